// One process runs at a time, so nobody is ever busy: one connection serves them all. A process
// that is killed within a change takes it back, as the next one to open the file would.
#include "os/sim/sim_databases.h"

#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/check.h"

namespace tend {
namespace {

std::shared_ptr<DatabaseConnection> make_connection() {
  sqlite3* opened = nullptr;
  constexpr int kHow = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  CHECK(sqlite3_open_v2(":memory:", &opened, kHow, nullptr) == SQLITE_OK);
  auto connection = std::make_shared<DatabaseConnection>(opened);
  CHECK(sqlite3_exec(opened, "PRAGMA foreign_keys=ON", nullptr, nullptr, nullptr) == SQLITE_OK);
  return connection;
}

}  // namespace

Result<std::unique_ptr<Database>> SimDatabases::open(const std::string& path,
                                                     const DatabaseSettings& settings) {
  std::ignore = settings;
  if (!handle_->call_disk()) return fail("the process is over");
  auto& connection = handle_->kernel->settings.databases[path];
  if (!connection) connection = make_connection();
  return std::make_unique<Database>(connection, path, [handle = handle_](bool writes) {
    if (!handle->call_disk()) return DatabaseTrouble::other;
    const SimDisk& disk = handle->kernel->disk;
    return writes && disk.room && *disk.room == 0 ? DatabaseTrouble::full : DatabaseTrouble::none;
  });
}

Result<void> SimDatabases::copy(Database& database, const std::string& path) {
  if (!handle_->call_disk()) return fail("the process is over");
  const SimDisk& disk = handle_->kernel->disk;
  if (disk.room && *disk.room == 0) {
    return fail(fmt::format("cannot write {}: no space left on device", path));
  }
  auto& all = handle_->kernel->settings.databases;
  const auto from = all.find(database.path());
  CHECK(from != all.end());
  auto made = make_connection();
  sqlite3_backup* const backup =
      sqlite3_backup_init(made->handle(), "main", from->second->handle(), "main");
  CHECK(backup != nullptr && sqlite3_backup_step(backup, -1) == SQLITE_DONE);
  CHECK(sqlite3_backup_finish(backup) == SQLITE_OK);
  all[path] = std::move(made);
  return {};
}

}  // namespace tend
