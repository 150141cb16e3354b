// Real SQLite files: whose they are, what is refused, and what damage, other processes and full or
// read-only disks do to them.
#include "os/linux/linux_databases.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "os/linux/temporary_folder.h"

namespace tend {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr uid_t kSomebodyElse = 4321;

mode_t mode_of(const std::string& path) {
  struct stat seen{};
  return ::lstat(path.c_str(), &seen) == 0 ? seen.st_mode & 07777 : 0;
}

pid_t start_child(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  return child;
}

/// -n if it died of signal n.
int end_of(pid_t child) {
  int status = -1;
  if (::waitpid(child, &status, 0) != child) return -1000;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

class LinuxDatabasesTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Database>> try_open(const DatabaseSettings& settings = {}) {
    return LinuxDatabases{}.open(path(), settings);
  }
  std::unique_ptr<Database> open(const DatabaseSettings& settings = {}) {
    auto opened = try_open(settings);
    EXPECT_TRUE(opened) << opened.error().text;
    return *std::move(opened);
  }
  std::string why_not_open() {
    const auto opened = try_open();
    return opened ? "it opened" : opened.error().text;
  }
  /// One with a hundred pages, closed, so that all of it is in one file.
  void make_large() {
    const auto database = open();
    ASSERT_TRUE(database->run_script("CREATE TABLE lines(n INTEGER PRIMARY KEY, text TEXT)"));
    ASSERT_TRUE(database->run(
        "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 400)"
        " INSERT INTO lines SELECT i, hex(zeroblob(500)) FROM c"));
  }
  static Result<std::int64_t> count(Database& database) {
    std::int64_t number = -1;
    const auto read = database.each("SELECT count(text) FROM lines", {},
                                    [&](const DatabaseRow& row) { number = row.number(0); });
    if (!read) return std::unexpected(read.error());
    return number;
  }
  static std::string integrity(Database& database) {
    std::string says;
    const auto read = database.each("PRAGMA integrity_check", {},
                                    [&](const DatabaseRow& row) { says += row.text(0); });
    return read ? says : read.error().text;
  }
  [[nodiscard]] std::string path() const { return place / "tend.db"; }
  [[nodiscard]] std::string bytes() const { return place.read("tend.db"); }

  TemporaryFolder place;
};

TEST_F(LinuxDatabasesTest, are_for_this_user_alone_whatever_the_mask) {
  const mode_t before = ::umask(0);
  const auto database = open();
  ASSERT_TRUE(database->run_script("CREATE TABLE lines(n)"));
  EXPECT_TRUE(LinuxDatabases{}.copy(*database, place / "copy"));
  ::umask(before);
  for (const char* const name : {"tend.db", "tend.db-wal", "tend.db-shm", "copy"}) {
    EXPECT_EQ(mode_of(place / name), 0600U) << name;
  }
}

TEST_F(LinuxDatabasesTest, write_ahead_so_that_a_reader_and_a_writer_do_not_wait) {
  const auto writer = open({.may_wait = 0ms});
  ASSERT_TRUE(writer->run_script("CREATE TABLE lines(n INTEGER PRIMARY KEY, text TEXT)"));
  const auto reader = open({.may_wait = 0ms});
  const auto changed = writer->change([&]() -> Result<void> {
    EXPECT_TRUE(writer->run("INSERT INTO lines VALUES(1, 'x')"));
    EXPECT_EQ(count(*reader).value(), 0) << "not before it is whole";
    return {};
  });
  EXPECT_TRUE(changed);
  EXPECT_EQ(count(*reader).value(), 1);
}

TEST_F(LinuxDatabasesTest, say_that_others_write_when_they_waited_long_enough) {
  const auto writer = open();
  ASSERT_TRUE(writer->run_script("CREATE TABLE lines(n INTEGER PRIMARY KEY, text TEXT)"));
  const auto other = open({.may_wait = 0ms});
  const auto changed = writer->change([&]() -> Result<void> {
    const auto refused = other->change([]() -> Result<void> { return {}; });
    EXPECT_EQ(refused.error().text, path() + " is busy: others write to it; try again");
    EXPECT_EQ(other->trouble(), DatabaseTrouble::busy);
    return {};
  });
  EXPECT_TRUE(changed);
  EXPECT_TRUE(other->run("INSERT INTO lines VALUES(1, 'x')"));
}

TEST_F(LinuxDatabasesTest, are_not_looked_for_behind_a_link) {
  place.write("elsewhere", "");
  ASSERT_EQ(::symlink((place / "elsewhere").c_str(), path().c_str()), 0);
  EXPECT_EQ(why_not_open(), "cannot open " + path() + ": it is a link; put the file itself there");
  EXPECT_EQ(place.read("elsewhere"), "");
  fs::remove(place / "elsewhere");
  EXPECT_NE(why_not_open(), "it opened") << "a link to nowhere";
  EXPECT_FALSE(fs::exists(place / "elsewhere"));
}

TEST_F(LinuxDatabasesTest, are_plain_files_of_this_user) {
  ASSERT_EQ(::mkdir(path().c_str(), 0700), 0);
  EXPECT_EQ(why_not_open(), "cannot open " + path() + ": it is not a plain file; move it away");
  fs::remove(path());
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(why_not_open(), "cannot open " + path() + ": it is not a plain file; move it away");
  fs::remove(path());
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  place.write("tend.db", "");
  ASSERT_EQ(::chown(path().c_str(), kSomebodyElse, kSomebodyElse), 0);
  EXPECT_EQ(why_not_open(), "cannot open " + path() + ": it belongs to somebody else");
}

TEST_F(LinuxDatabasesTest, need_a_folder) {
  const std::string nowhere = place / "none/tend.db";
  const auto opened = LinuxDatabases{}.open(nowhere, {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().text, "cannot open " + nowhere + ": No such file or directory");
}

TEST_F(LinuxDatabasesTest, that_are_none_are_left_as_they_are) {
  const std::string text(5'000, 'x');
  place.write("tend.db", text);
  EXPECT_EQ(why_not_open(),
            path() +
                " is damaged (file is not a database) and was left as it is; move it away "
                "together with " +
                path() + "-wal and " + path() +
                "-shm, then put a backup in its place or begin anew");
  EXPECT_EQ(bytes(), text);
}

TEST_F(LinuxDatabasesTest, that_are_damaged_inside_say_so_and_are_left_as_they_are) {
  make_large();
  std::string damaged = bytes();
  ASSERT_GT(damaged.size(), 100U * 4096);
  for (std::size_t page = 3; page < damaged.size() / 4096; ++page) {
    damaged.replace(page * 4096, 200, 200, '\xee');
  }
  place.write("tend.db", damaged);
  {
    const auto database = open();
    const auto counted = count(*database);
    ASSERT_FALSE(counted);
    EXPECT_EQ(database->trouble(), DatabaseTrouble::damaged);
    EXPECT_TRUE(counted.error().text.starts_with(path() + " is damaged (")) << counted.error().text;
    EXPECT_FALSE(LinuxDatabases{}.copy(*database, place / "copy"));
    EXPECT_FALSE(fs::exists(place / "copy"));
    EXPECT_FALSE(fs::exists(place / "copy.new"));
  }
  EXPECT_EQ(bytes(), damaged);
}

TEST_F(LinuxDatabasesTest, that_were_cut_off_are_not_taken_for_whole) {
  make_large();
  const std::string cut = bytes().substr(0, 20 * 4096);
  place.write("tend.db", cut);
  EXPECT_TRUE(why_not_open().starts_with(path() + " is damaged (")) << why_not_open();
  EXPECT_EQ(bytes(), cut);
}

TEST_F(LinuxDatabasesTest, that_were_emptied_beside_their_log_are_not_taken_for_new) {
  const auto database = open();
  ASSERT_TRUE(database->run_script("CREATE TABLE lines(n)"));
  const std::string log = place.read("tend.db-wal");
  ASSERT_FALSE(log.empty());
  TemporaryFolder other;
  other.write("tend.db", "");
  other.write("tend.db-wal", log);
  const auto opened = LinuxDatabases{}.open(other / "tend.db", {});
  ASSERT_FALSE(opened);
  EXPECT_TRUE(opened.error().text.starts_with(other / "tend.db is damaged (it is empty"))
      << opened.error().text;
  EXPECT_EQ(other.read("tend.db-wal"), log);
}

TEST_F(LinuxDatabasesTest, survive_who_is_killed_within_a_change) {
  make_large();
  const pid_t child = start_child([&] {
    const auto database = open();
    std::ignore = database->change([&]() -> Result<void> {
      EXPECT_TRUE(database->run("DELETE FROM lines"));
      ::raise(SIGKILL);
      return {};
    });
  });
  EXPECT_EQ(end_of(child), -SIGKILL);
  const auto database = open();
  EXPECT_EQ(count(*database).value(), 400);
  EXPECT_EQ(integrity(*database), "ok");
}

TEST_F(LinuxDatabasesTest, are_made_once_by_many_at_the_same_time) {
  for (int round = 0; round < 5; ++round) {
    fs::remove(path());
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
      children.push_back(start_child([&] {
        const auto opened = try_open();
        ASSERT_TRUE(opened) << opened.error().text;
        const auto made = (*opened)->run_script(
            "CREATE TABLE IF NOT EXISTS lines(n INTEGER PRIMARY KEY, text TEXT)");
        ASSERT_TRUE(made) << made.error().text;
        const auto put = (*opened)->run("INSERT INTO lines(text) VALUES('x')");
        ASSERT_TRUE(put) << put.error().text;
      }));
    }
    for (const pid_t child : children) EXPECT_EQ(end_of(child), 0);
    EXPECT_EQ(count(*open()).value(), 8);
  }
}

TEST_F(LinuxDatabasesTest, replace_what_a_killed_copy_left) {
  make_large();
  place.write("copy.new", "half of it");
  place.write("copy.new-journal", "half of it");
  const auto database = open();
  ASSERT_TRUE(LinuxDatabases{}.copy(*database, place / "copy"));
  EXPECT_FALSE(fs::exists(place / "copy.new"));
  EXPECT_FALSE(fs::exists(place / "copy.new-journal"));
  EXPECT_EQ(count(*LinuxDatabases{}.open(place / "copy", {}).value()).value(), 400);
  ASSERT_EQ(::mkdir((place / "taken").c_str(), 0700), 0);
  EXPECT_FALSE(LinuxDatabases{}.copy(*database, place / "taken"));
  EXPECT_FALSE(fs::exists(place / "taken.new"));
}

// --- Disks, each in a mount namespace of a child ------------------------------------------------

class LinuxDatabasesOnDisksTest : public LinuxDatabasesTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can mount a disk";
    const int tried = end_of(start_child([] { ::_exit(unshared() ? 0 : 1); }));
    if (tried != 0) GTEST_SKIP() << "no mount namespace of our own here";
  }
  static bool unshared() {
    return ::unshare(CLONE_NEWNS) == 0 &&
           ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  }
};

TEST_F(LinuxDatabasesOnDisksTest, that_cannot_be_written_say_so_and_change_nothing) {
  make_large();
  const std::string before = bytes();
  const pid_t child = start_child([&] {
    ASSERT_TRUE(unshared());
    const char* const folder = place.path().c_str();
    ASSERT_EQ(::mount(folder, folder, nullptr, MS_BIND, nullptr), 0);
    ASSERT_EQ(::mount(nullptr, folder, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr), 0);
    EXPECT_EQ(why_not_open(), "cannot write " + place.path() +
                                  ": Read-only file system; check who may write there");
    const auto made = LinuxDatabases{}.open(place / "new.db", {});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().text, "cannot open " + place / "new.db: Read-only file system");
  });
  EXPECT_EQ(end_of(child), 0);
  EXPECT_EQ(bytes(), before);
}

TEST_F(LinuxDatabasesOnDisksTest, that_are_full_lose_nothing_that_was_done) {
  const pid_t child = start_child([&] {
    ASSERT_TRUE(unshared());
    ASSERT_EQ(::mount("none", place.path().c_str(), "tmpfs", 0, "size=512k,mode=0700"), 0);
    auto database = open();
    ASSERT_TRUE(database->run_script("CREATE TABLE lines(n INTEGER PRIMARY KEY, text TEXT)"));
    std::int64_t done = 0;
    Result<std::int64_t> put = 0;
    for (; done < 10'000; ++done) {
      put = database->run("INSERT INTO lines(text) VALUES(hex(zeroblob(1000)))");
      if (!put) break;
    }
    ASSERT_FALSE(put);
    EXPECT_EQ(database->trouble(), DatabaseTrouble::full) << put.error().text;
    EXPECT_EQ(count(*database).value(), done);
    database.reset();
    const auto again = try_open();
    if (again) {
      EXPECT_EQ(count(**again).value(), done);
      EXPECT_EQ(integrity(**again), "ok");
    } else {
      EXPECT_TRUE(again.error().text.contains("no space left on device")) << again.error().text;
    }
  });
  EXPECT_EQ(end_of(child), 0);
}

TEST_F(LinuxDatabasesOnDisksTest, that_are_full_before_a_new_one_is_made_say_so) {
  const pid_t child = start_child([&] {
    ASSERT_TRUE(unshared());
    ASSERT_EQ(::mount("none", place.path().c_str(), "tmpfs", 0, "size=64k,mode=0700"), 0);
    place.write("filler", std::string(100'000, 'x'));
    EXPECT_EQ(why_not_open(),
              "cannot write " + path() + ": no space left on device; nothing was changed");
    fs::remove(place / "filler");
    EXPECT_TRUE(try_open());
  });
  EXPECT_EQ(end_of(child), 0);
}

}  // namespace
}  // namespace tend
