// What a commit leaves in memory and on the disk, and what a power cut leaves of that.
#include "os/sim/sim_database_file.h"

#include <utility>

#include <sqlite3.h>

#include "base/check.h"

namespace tend {
namespace {

// Older ones were written by the system itself, as after half a minute on a real machine.
constexpr std::size_t kMostUnsynced = 64;

std::shared_ptr<DatabaseConnection> make_connection() {
  sqlite3* opened = nullptr;
  constexpr int kHow = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  CHECK(sqlite3_open_v2(":memory:", &opened, kHow, nullptr) == SQLITE_OK);
  auto connection = std::make_shared<DatabaseConnection>(opened);
  CHECK(sqlite3_exec(opened, "PRAGMA foreign_keys=ON", nullptr, nullptr, nullptr) == SQLITE_OK);
  return connection;
}

// Statements and triggers of whoever has the second one open go on with what is there then.
void put_all(const DatabaseConnection& from, const DatabaseConnection& to) {
  sqlite3_backup* const backup = sqlite3_backup_init(to.handle(), "main", from.handle(), "main");
  CHECK(backup != nullptr && sqlite3_backup_step(backup, -1) == SQLITE_DONE);
  CHECK(sqlite3_backup_finish(backup) == SQLITE_OK);
}

}  // namespace

SimDatabaseFile::SimDatabaseFile() : connection_(make_connection()) {
  sqlite3_commit_hook(connection_->handle(), &SimDatabaseFile::on_commit, this);
}

SimDatabaseFile::~SimDatabaseFile() {
  sqlite3_commit_hook(connection_->handle(), nullptr, nullptr);
}

void SimDatabaseFile::copy_to(SimDatabaseFile& other) const {
  put_all(*connection_, *other.connection_);
}

void SimDatabaseFile::close(bool moves_log) {
  CHECK(open_ > 0);
  --open_;
  // Who was killed as it promised less has asked that of nobody else.
  sqlite3_exec(connection_->handle(), "PRAGMA synchronous=FULL", nullptr, nullptr, nullptr);
  if (moves_log && open_ == 0) sync();
}

bool SimDatabaseFile::is_durable() {
  bool durable = true;
  sqlite3_stmt* asked = nullptr;
  CHECK(connection_->prepare("PRAGMA synchronous", asked) == SQLITE_OK);
  constexpr int kFull = 2;
  if (sqlite3_step(asked) == SQLITE_ROW) durable = sqlite3_column_int(asked, 0) >= kFull;
  sqlite3_reset(asked);
  return durable;
}

bool SimDatabaseFile::begin_write(const void* writer, bool lasts) {
  const bool in_change = sqlite3_get_autocommit(connection_->handle()) == 0;
  if (in_change) return writer_ == writer;
  if (busy) return false;
  writer_ = writer;
  lasts_ = lasts;
  if (lasts || is_last_) return true;
  if (unsynced_.size() == kMostUnsynced) unsynced_.erase(unsynced_.begin());
  unsynced_.push_back(image());
  is_last_ = true;
  return true;
}

/// 0: it may be committed.
int SimDatabaseFile::on_commit(void* self) {
  auto& file = *static_cast<SimDatabaseFile*>(self);
  if (file.writer_ == nullptr) return 0;
  file.is_last_ = false;
  if (file.lasts_) file.unsynced_.clear();
  return 0;
}

void SimDatabaseFile::sync() {
  unsynced_.clear();
  is_last_ = false;
}

void SimDatabaseFile::cut_power() { take_back_to(0); }

void SimDatabaseFile::tear(const Chance& chance) {
  take_back_to(unsynced_.empty() ? 0 : chance() % (unsynced_.size() + 1));
}

SimDatabaseFile::Image SimDatabaseFile::image() const {
  sqlite3_int64 size = 0;
  unsigned char* const bytes = sqlite3_serialize(connection_->handle(), "main", &size, 0);
  Image made;
  if (bytes != nullptr) made.assign(bytes, bytes + size);
  sqlite3_free(bytes);
  return made;
}

void SimDatabaseFile::take_back_to(std::size_t unsynced) {
  if (sqlite3_get_autocommit(connection_->handle()) == 0) {
    sqlite3_exec(connection_->handle(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  forget_writer();
  if (unsynced < unsynced_.size()) {
    Image& left = unsynced_[unsynced];
    const auto before = make_connection();
    const auto size = static_cast<sqlite3_int64>(left.size());
    if (size > 0) {
      auto* const bytes = reinterpret_cast<unsigned char*>(left.data());
      CHECK(sqlite3_deserialize(before->handle(), "main", bytes, size, size,
                                SQLITE_DESERIALIZE_READONLY) == SQLITE_OK);
    }
    put_all(*before, *connection_);
  }
  sync();
}

std::unique_ptr<Database> look_into(const std::shared_ptr<SimDatabaseFile>& file,
                                    const std::string& path) {
  return std::make_unique<Database>(file->connection(), path, [file](bool) {
    file->forget_writer();
    return DatabaseTrouble::none;
  });
}

}  // namespace tend
