// One process runs at a time: one connection serves them all. A process that is killed within a
// change takes it back, as the next one to open the file would.
#include "os/sim/sim_databases.h"

#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "os/sim/sim_database_file.h"

namespace tend {
namespace {

/// One opening by one process; it holds what the linux one would.
class Opening {
 public:
  Opening(SimHandlePtr handle, std::shared_ptr<SimDatabaseFile> file, Duration may_wait)
      : handle_(std::move(handle)), file_(std::move(file)), may_wait_(may_wait) {
    file_->open();
  }
  ~Opening() {
    const bool lives = !handle_->dead && handle_->kernel != nullptr;
    file_->close(lives && !leaves_log_ && !handle_->kernel->disk.syncs_lie);
  }
  Opening(const Opening&) = delete;
  Opening& operator=(const Opening&) = delete;

  [[nodiscard]] DatabaseConnection* connection() const { return file_->connection().get(); }
  DatabaseTrouble before(bool writes) {
    if (!handle_->call_disk()) return DatabaseTrouble::other;
    if (!writes) return DatabaseTrouble::none;
    const SimDisk& disk = handle_->kernel->disk;
    if (disk.room && *disk.room == 0) return DatabaseTrouble::full;
    const bool durable = file_->is_durable();
    if (!durable) leaves_log_ = true;
    if (file_->begin_write(this, durable && !disk.syncs_lie)) return DatabaseTrouble::none;
    handle_->kernel->queue.pass(may_wait_);
    return DatabaseTrouble::busy;
  }

 private:
  SimHandlePtr handle_;
  std::shared_ptr<SimDatabaseFile> file_;
  Duration may_wait_;
  bool leaves_log_ = false;
};

}  // namespace

Result<std::unique_ptr<Database>> SimDatabases::open(const std::string& path,
                                                     const DatabaseSettings& settings) {
  if (!handle_->call_disk()) return fail("the process is over");
  auto& file = handle_->kernel->settings.databases[path];
  if (!file) file = std::make_shared<SimDatabaseFile>();
  if (file->unreadable) {
    return fail(fmt::format("cannot write {}: Permission denied; check who may write there", path));
  }
  auto opening = std::make_shared<Opening>(handle_, file, settings.may_wait);
  // Closed when nobody has the connection any more.
  const std::shared_ptr<DatabaseConnection> connection(opening, opening->connection());
  auto database = std::make_unique<Database>(
      connection, path, [opening](bool writes) { return opening->before(writes); });
  database->set_durable(settings.durable);
  return database;
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
  auto made = std::make_shared<SimDatabaseFile>();
  from->second->copy_to(*made);
  all[path] = std::move(made);
  return {};
}

}  // namespace tend
