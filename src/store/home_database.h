// `tend.db` in a home: tasks, mail and the outbox, shared by all processes. Its schema has a
// version; an older one is brought up to date by whoever opens it first, behind a lock and after a
// copy was put aside; a newer one is left alone.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "os/database.h"
#include "os/folder.h"

namespace tend {

inline constexpr const char* kDatabaseFile = "tend.db";
inline constexpr std::int64_t kDatabaseVersion = 1;

/// Made if it is not there.
Result<std::unique_ptr<Database>> open_home_database(Databases& databases, Folder& home,
                                                     const DatabaseSettings& settings = {});

/// Milliseconds since 1970: how all times stand there.
std::int64_t database_time(WallTime time);
WallTime from_database_time(std::int64_t milliseconds);

}  // namespace tend
