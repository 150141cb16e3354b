// A write-ahead log, so that readers never wait for a writer, nor a writer for readers.
#include "os/linux/linux_databases.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <thread>

#include <fmt/format.h>
#include <sqlite3.h>

#include "os/linux/fd.h"

namespace tend {
namespace {

constexpr mode_t kOursAlone = 0600;

std::unexpected<Error> cannot_open(const std::string& path, std::string_view why) {
  return fail(fmt::format("cannot open {}: {}", path, why));
}

/// SQLite would make it for everybody; its other files take after this one. One that is there is
/// not opened: closing it would free the locks of other connections in this process.
Result<void> make_for_us_alone(const std::string& path) {
  const Fd made(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kOursAlone));
  if (made || errno == EEXIST) return {};
  return cannot_open(path, system_says(errno));
}

/// Only what is a plain file of ours is looked into. An empty one beside a log that is not was cut
/// off: SQLite would take it for a new one and throw the log away. The log is looked at first,
/// because whoever makes a new one writes to it before there is a log.
Result<void> check_file(const std::string& path) {
  struct stat log{};
  const bool has_log = ::lstat((path + "-wal").c_str(), &log) == 0 && log.st_size > 0;
  struct stat seen{};
  if (::lstat(path.c_str(), &seen) != 0) return cannot_open(path, system_says(errno));
  if (S_ISLNK(seen.st_mode)) return cannot_open(path, "it is a link; put the file itself there");
  if (!S_ISREG(seen.st_mode)) return cannot_open(path, "it is not a plain file; move it away");
  if (seen.st_uid != ::geteuid()) return cannot_open(path, "it belongs to somebody else");
  // Where nothing can be written there is no log either, and SQLite would only say that it cannot
  // open something.
  for (const std::string& one : {path.substr(0, path.rfind('/')), path}) {
    if (::faccessat(AT_FDCWD, one.c_str(), W_OK, AT_EACCESS) == 0) continue;
    return fail(
        fmt::format("cannot write {}: {}; check who may write there", one, system_says(errno)));
  }
  if (has_log && seen.st_size == 0) {
    return fail(
        fmt::format("{0} is damaged (it is empty, and {0}-wal is not) and was left as it "
                    "is; move both away, then put a backup in its place or begin anew",
                    path));
  }
  return {};
}

/// Two who make the same new database a log can be in each other's way, and SQLite does not wait
/// there: it could be for ever.
Result<void> use_log(Database& database, Duration may_wait) {
  constexpr auto kPause = std::chrono::milliseconds{5};
  for (Duration waited{};; waited += kPause) {
    auto set = database.run_script("PRAGMA journal_mode=WAL");
    if (set || database.trouble() != DatabaseTrouble::busy || waited >= may_wait) return set;
    std::this_thread::sleep_for(std::min<Duration>(kPause, may_wait - waited));
  }
}

/// Files beside it that a copy which was killed has left.
void remove_unfinished(const std::string& path) {
  ::unlink(path.c_str());
  ::unlink((path + "-journal").c_str());
}

Result<void> sync_path(const std::string& path, int flags) {
  const Fd file(::open(path.c_str(), flags | O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file || ::fsync(file.get()) != 0) {
    return fail(fmt::format("cannot write {}: {}", path, system_says(errno)));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Database>> LinuxDatabases::open(const std::string& path,
                                                       const DatabaseSettings& settings) {
  if (auto made = make_for_us_alone(path); !made) return std::unexpected(made.error());
  if (auto ok = check_file(path); !ok) return std::unexpected(ok.error());
  sqlite3* opened = nullptr;
  // A connection is its owner's alone: no lock around each of its calls.
  constexpr int kHow = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX;
  const int code = sqlite3_open_v2(path.c_str(), &opened, kHow, nullptr);
  const auto connection = std::make_shared<DatabaseConnection>(opened);
  if (code != SQLITE_OK) {
    return cannot_open(path, opened == nullptr ? "no memory" : sqlite3_errmsg(opened));
  }
  sqlite3_extended_result_codes(opened, 1);
  sqlite3_busy_timeout(opened, static_cast<int>(settings.may_wait.count()));
  auto database = std::make_unique<Database>(connection, path);
  if (auto set = use_log(*database, settings.may_wait); !set) return std::unexpected(set.error());
  auto set = database->run_script("PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON");
  if (!set) return std::unexpected(set.error());
  database->set_durable(settings.durable);
  return database;
}

Result<void> LinuxDatabases::copy(Database& database, const std::string& path) {
  const std::string unfinished = path + ".new";
  remove_unfinished(unfinished);
  if (auto made = make_for_us_alone(unfinished); !made) return made;
  auto done = [&]() -> Result<void> {
    const auto copied = database.run("VACUUM INTO ?", {std::string_view(unfinished)});
    if (!copied) return std::unexpected(copied.error());
    if (auto synced = sync_path(unfinished, 0); !synced) return synced;
    if (std::rename(unfinished.c_str(), path.c_str()) != 0) {
      return fail(fmt::format("cannot write {}: {}", path, system_says(errno)));
    }
    return sync_path(path.substr(0, path.rfind('/')), O_DIRECTORY);
  }();
  if (!done) remove_unfinished(unfinished);
  return done;
}

}  // namespace tend
