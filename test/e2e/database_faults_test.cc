// The database is damaged, locked, read-only or on a full disk: whoever needs it says so in one
// line and changes nothing; whoever does not need it works on.
#include <fcntl.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "database_testing.h"

namespace tend::e2e {
namespace {

namespace fs = std::filesystem;

class DatabaseFaultsTest : public E2e {
 protected:
  void SetUp() override {
    E2e::SetUp();
    fs::create_directory(home());
    fs::permissions(home(), fs::perms::owner_all);
  }
  [[nodiscard]] Path database() const { return home() / "tend.db"; }

  void add_tasks() {
    for (const char* const id : {"one", "two"}) {
      const auto added = tend({"task", "add", "What it is", "--id", id});
      ASSERT_EQ(added.exit, 0) << added.err;
    }
    ASSERT_EQ(tend({"task", "claim", "one", "--actor", "PinkHill"}).exit, 0);
  }
  /// Each that writes, and with `readers` each that reads, fails with one line that has this.
  void expect_refused(const std::string& words, bool readers) {
    std::vector<Arguments> commands{
        {"task", "add", "Another"},
        {"task", "claim", "two", "--actor", "PinkHill"},
        {"task", "update", "two", "--title", "Other", "--actor", "PinkHill"},
        {"task", "close", "one", "--actor", "PinkHill"},
        {"task", "release", "one", "--actor", "PinkHill"},
        {"heartbeat", "one", "--actor", "PinkHill"},
        {"reclaim", "--older-than", "1ms"},
    };
    if (readers) {
      commands.push_back({"list"});
      commands.push_back({"list", "--heartbeat-stale", "--json"});
      commands.push_back({"task", "show", "one"});
    }
    for (const Arguments& command : commands) {
      const auto ran = tend(command);
      EXPECT_EQ(ran.exit, 1) << command.at(0) << ": " << ran.out;
      EXPECT_EQ(ran.out, "") << command.at(0);
      EXPECT_EQ(std::ranges::count(ran.err, '\n'), 1) << ran.err;
      EXPECT_TRUE(ran.err.contains(words)) << ran.err;
    }
  }
  /// Nothing but tasks and mail needs the database.
  void expect_agents_are_kept() {
    const auto ran = tend({"run", "--", "echo", "works"});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_TRUE(ran.out.contains("works")) << ran.out;
    const auto status = tend({"status"});
    EXPECT_EQ(status.exit, 0) << status.err;
  }
};

TEST_F(DatabaseFaultsTest, what_is_no_database_is_left_as_it_is) {
  add_tasks();
  const std::string nonsense(10'000, 'x');
  std::ofstream(database()) << nonsense;
  expect_refused("is damaged", true);
  expect_refused("move it away", true);
  expect_agents_are_kept();
  EXPECT_EQ(read_file(database()), nonsense);
}

TEST_F(DatabaseFaultsTest, a_damaged_page_is_said_and_nothing_is_written) {
  add_tasks();
  ASSERT_EQ(asked_of(database(), "PRAGMA wal_checkpoint(TRUNCATE)").substr(0, 1), "0");
  std::string bytes = read_file(database());
  for (std::size_t page = 1; page < bytes.size() / 4096; ++page) {
    bytes.replace(page * 4096, 100, 100, '\xee');
  }
  std::ofstream(database(), std::ios::binary) << bytes;
  expect_refused("is damaged", true);
  expect_agents_are_kept();
  EXPECT_TRUE(read_file(database()) == bytes);
}

TEST_F(DatabaseFaultsTest, a_database_that_was_cut_off_is_not_taken_for_a_new_one) {
  add_tasks();
  ASSERT_EQ(asked_of(database(), "PRAGMA wal_checkpoint(TRUNCATE)").substr(0, 1), "0");
  const std::string cut = read_file(database()).substr(0, 3 * 4096);
  std::ofstream(database(), std::ios::binary) << cut;
  expect_refused("is damaged", true);
  EXPECT_TRUE(read_file(database()) == cut);
}

TEST_F(DatabaseFaultsTest, of_a_newer_tend_it_is_left_alone) {
  add_tasks();
  ASSERT_EQ(asked_of(database(), "PRAGMA user_version = 99"), "");
  const std::string before = read_file(database());
  expect_refused("was made by a newer tend", true);
  expect_agents_are_kept();
  EXPECT_TRUE(read_file(database()) == before);
}

TEST_F(DatabaseFaultsTest, a_lock_is_waited_for_and_then_said) {
  add_tasks();
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(database().c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  const auto listed = tend({"list"});
  EXPECT_EQ(listed.exit, 0) << "who reads does not wait: " << listed.err;
  const auto claimed = tend({"task", "claim", "two", "--actor", "PinkHill"});
  EXPECT_EQ(claimed.exit, 1);
  EXPECT_TRUE(claimed.err.contains("is busy: others write to it; try again")) << claimed.err;
  Background waits = start_tend({"task", "claim", "two", "--actor", "PinkHill"});
  ASSERT_EQ(sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_EQ(waits.wait().exit, 0) << waits.err();
  sqlite3_close(other);
}

/// The home is a disk of its own, in a mount namespace of our own.
class DatabaseOnDiskTest : public DatabaseFaultsTest {
 protected:
  void SetUp() override {
    DatabaseFaultsTest::SetUp();
    if (geteuid() != 0) GTEST_SKIP() << "only root can mount a disk";
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
      GTEST_SKIP() << "no mount namespace of our own here";
    }
    mounted_ = mount("tmpfs", home().c_str(), "tmpfs", 0, "size=4m,mode=0700") == 0;
    if (!mounted_) GTEST_SKIP() << "a tmpfs cannot be mounted here";
  }
  void TearDown() override {
    if (mounted_) {
      end_everything();
      umount2(home().c_str(), MNT_DETACH);
    }
    E2e::TearDown();
  }

 private:
  bool mounted_ = false;
};

TEST_F(DatabaseOnDiskTest, that_is_read_only_it_is_left_as_it_is) {
  add_tasks();
  const std::string before = read_file(database());
  ASSERT_EQ(mount(nullptr, home().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  expect_refused("ead-only file system", false);
  EXPECT_EQ(tend({"status"}).exit, 0);
  ASSERT_EQ(mount(nullptr, home().c_str(), nullptr, MS_REMOUNT, nullptr), 0);
  EXPECT_TRUE(read_file(database()) == before);
  EXPECT_EQ(tend({"heartbeat", "one", "--actor", "PinkHill"}).exit, 0);
}

TEST_F(DatabaseOnDiskTest, that_is_full_nothing_is_lost_and_it_goes_on_when_there_is_room) {
  add_tasks();
  const Path filler = home() / "filler";
  const int file = ::open(filler.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0);
  const std::string page(4096, 'x');
  while (::write(file, page.data(), page.size()) > 0) {
  }
  ::close(file);
  expect_refused("no space left on device", false);
  EXPECT_EQ(tend({"status"}).exit, 0);
  fs::remove(filler);
  EXPECT_EQ(asked_of(database(), "PRAGMA integrity_check"), "ok");
  EXPECT_EQ(asked_of(database(), "SELECT group_concat(id || '=' || status) FROM tasks"),
            "one=in_progress,two=open");
  EXPECT_EQ(tend({"task", "claim", "two", "--actor", "PinkHill"}).exit, 0);
}

}  // namespace
}  // namespace tend::e2e
