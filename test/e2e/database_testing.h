// Looking into the database of a home from a test, beside whoever uses it.
#pragma once

#include <sqlite3.h>

#include <string>

#include "e2e.h"

namespace tend::e2e {

/// What a query says, its values one after another with spaces between; or the error.
inline std::string asked_of(const Path& database, const std::string& sql) {
  sqlite3* connection = nullptr;
  std::string says;
  if (sqlite3_open_v2(database.c_str(), &connection, SQLITE_OPEN_READWRITE, nullptr) == SQLITE_OK) {
    sqlite3_busy_timeout(connection, 10'000);
    const auto take = [](void* into, int count, char** values, char**) {
      for (int i = 0; i < count; ++i) {
        auto& text = *static_cast<std::string*>(into);
        text += (text.empty() ? "" : " ") + std::string(values[i] != nullptr ? values[i] : "NULL");
      }
      return 0;
    };
    sqlite3_exec(connection, sql.c_str(), take, &says, nullptr);
  }
  if (sqlite3_errcode(connection) != SQLITE_OK) says = sqlite3_errmsg(connection);
  sqlite3_close(connection);
  return says;
}

}  // namespace tend::e2e
