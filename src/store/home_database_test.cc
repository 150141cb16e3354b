// Versions of the database in a home: made, brought up to date behind a lock and after a copy,
// refused when newer; and what is left when somebody is killed in the middle.
#include "store/home_database.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "os/linux/linux_databases.h"
#include "os/linux/linux_folder.h"
#include "os/linux/temporary_folder.h"
#include "os/sim/sim_universe.h"
#include "store/gate.h"
#include "store/tasks.h"
#include "store/versioned_database.h"

namespace tend {
namespace {

namespace fs = std::filesystem;
using Steps = std::span<const std::string_view>;

constexpr std::array<std::string_view, 3> kSteps{
    "CREATE TABLE words(word TEXT PRIMARY KEY); INSERT INTO words VALUES('first')",
    "ALTER TABLE words ADD COLUMN length INTEGER; UPDATE words SET length = length(word)",
    "CREATE INDEX words_by_length ON words(length); INSERT INTO words VALUES('third', 5)",
};
constexpr std::array<std::string_view, 2> kBroken{kSteps[0],
                                                  "DELETE FROM words; CREATE TABLE words(word)"};
constexpr Steps kAll{kSteps};
constexpr WallTime kNow{std::chrono::hours{24 * 20'000}};

std::int64_t number_in(Database& database, std::string_view sql) {
  std::int64_t number = -1;
  const auto read = database.each(sql, {}, [&](const DatabaseRow& row) { number = row.number(0); });
  EXPECT_TRUE(read) << read.error().text;
  return number;
}
std::int64_t version_of(Database& database) { return number_in(database, "PRAGMA user_version"); }
std::int64_t words_in(Database& database) {
  return number_in(database, "SELECT count(*) FROM words");
}

class HomeDatabaseTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Database>> try_open(Steps steps, const std::string& name = "tend.db") {
    return open_versioned_database(databases, *home, name, steps, {});
  }
  std::unique_ptr<Database> open(Steps steps, const std::string& name = "tend.db") {
    auto opened = try_open(steps, name);
    EXPECT_TRUE(opened) << opened.error().text;
    return *std::move(opened);
  }
  std::string why_not(Steps steps) {
    const auto opened = try_open(steps);
    return opened ? "it opened" : opened.error().text;
  }
  [[nodiscard]] bool exists(const std::string& name) const { return fs::exists(place / name); }

  TemporaryFolder place;
  LinuxFolders folders;
  std::unique_ptr<Folder> home = folders.open(place.path()).value();
  LinuxDatabases databases;
};

TEST_F(HomeDatabaseTest, is_made_in_the_newest_version_and_opened_again) {
  const auto first = open_home_database(databases, *home);
  ASSERT_TRUE(first) << first.error().text;
  EXPECT_EQ(version_of(**first), kDatabaseVersion);
  const auto second = open_home_database(databases, *home);
  ASSERT_TRUE(second) << second.error().text;
  EXPECT_EQ((*second)->path(), place / kDatabaseFile);
  EXPECT_FALSE(exists("tend.db.v0")) << "there was nothing to put aside";
}

TEST_F(HomeDatabaseTest, is_brought_up_to_date_after_a_copy_was_put_aside) {
  ASSERT_TRUE(open(kAll.first(1))->run("INSERT INTO words VALUES('mine')"));
  const auto newest = open(kAll);
  EXPECT_EQ(version_of(*newest), 3);
  EXPECT_EQ(words_in(*newest), 3);
  EXPECT_EQ(number_in(*newest, "SELECT length FROM words WHERE word = 'mine'"), 4);
  EXPECT_FALSE(exists("tend.db.v2")) << "what was never there is not put aside";
  const auto copy = databases.open(place / "tend.db.v1", {}).value();
  EXPECT_EQ(version_of(*copy), 1);
  EXPECT_EQ(words_in(*copy), 2);
  EXPECT_FALSE(copy->run("SELECT length FROM words"));
}

/// All that a first version had is there afterwards, and the copy is what it was.
TEST_F(HomeDatabaseTest, of_before_the_gate_gets_one_and_keeps_what_it_has) {
  {
    const auto first = open_home_database(databases, *home).value();
    ASSERT_TRUE(Tasks(*first, {}).add({.id = "t-1", .title = "mine"}, kNow));
    ASSERT_TRUE(first->run_script(
        "DROP TABLE messages; DROP TABLE outages; DROP TABLE reply_ways; PRAGMA user_version = 1"));
  }
  const auto opened = open_home_database(databases, *home);
  ASSERT_TRUE(opened) << opened.error().text;
  EXPECT_EQ(version_of(**opened), 2);
  EXPECT_EQ(number_in(**opened, "SELECT count(*) FROM tasks"), 1);
  ASSERT_TRUE(Gate(**opened).begin_outage("boss", "", kNow));
  const auto copy = databases.open(place / "tend.db.v1", {}).value();
  EXPECT_EQ(version_of(*copy), 1);
  EXPECT_EQ(number_in(*copy, "SELECT count(*) FROM tasks"), 1);
  EXPECT_FALSE(copy->run("SELECT * FROM messages"));
}

TEST_F(HomeDatabaseTest, of_a_newer_version_is_left_alone) {
  open(kAll);
  const std::string before = place.read("tend.db");
  EXPECT_EQ(why_not(kAll.first(2)),
            place / "tend.db was made by a newer tend (its version 3, ours 2): update tend");
  EXPECT_EQ(place.read("tend.db"), before);
  EXPECT_FALSE(exists("tend.db.v3"));
  ASSERT_TRUE(open(kAll)->run_script("PRAGMA user_version = -4"));
  EXPECT_NE(why_not(kAll), "it opened");
}

TEST_F(HomeDatabaseTest, stays_as_it_was_when_a_step_fails) {
  open(kAll.first(1));
  EXPECT_NE(why_not(kBroken), "it opened");
  EXPECT_EQ(words_in(*open(kAll.first(1))), 1);
  EXPECT_EQ(words_in(*open(kAll)), 2) << "and a better tend can go on";
}

TEST_F(HomeDatabaseTest, stays_as_it_was_when_no_copy_can_be_put_aside) {
  open(kAll.first(1));
  fs::create_directory(place / "tend.db.v1");
  EXPECT_TRUE(why_not(kAll).starts_with("cannot put a copy aside: ")) << why_not(kAll);
  EXPECT_EQ(version_of(*open(kAll.first(1))), 1);
  EXPECT_FALSE(exists("tend.db.v1.new"));
}

TEST_F(HomeDatabaseTest, is_brought_up_to_date_by_one_at_a_time) {
  open(kAll.first(1));
  const auto held = home->open(".tend.db.migration", Folder::Open::update).value();
  ASSERT_TRUE(held->lock().value());
  EXPECT_EQ(why_not(kAll),
            place / "tend.db is being brought up to date by another process; try again");
  EXPECT_EQ(version_of(*open(kAll.first(1))), 1) << "who knows no newer version is not disturbed";
}

TEST_F(HomeDatabaseTest, is_made_and_brought_up_to_date_by_many_processes_at_once) {
  for (int round = 0; round < 3; ++round) {
    const std::string name = "round" + std::to_string(round);
    if (round > 0) open(kAll.first(1), name);
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        auto opened = try_open(kAll, name);
        const bool told = !opened && opened.error().text.ends_with("try again");
        if (!opened && !told) std::fprintf(stderr, "%s\n", opened.error().text.c_str());
        ::_exit(opened && words_in(**opened) == 2 ? 0 : told ? 1 : 2);
      }
      children.push_back(child);
    }
    int opened = 0;
    for (const pid_t child : children) {
      int status = -1;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      ASSERT_TRUE(WIFEXITED(status));
      EXPECT_LT(WEXITSTATUS(status), round == 0 ? 1 : 2) << "a new one is waited for";
      opened += WEXITSTATUS(status) == 0 ? 1 : 0;
    }
    EXPECT_GE(opened, 1);
    EXPECT_EQ(words_in(*open(kAll, name)), 2) << "each step was taken once";
  }
}

/// Every call of the machine in turn is the last one of whoever brings it up to date.
TEST(HomeDatabaseInSimTest, survives_who_is_killed_at_any_call_of_bringing_it_up_to_date) {
  const std::string place = "/home/user/tend";
  int killed = 0;
  for (std::uint64_t n = 1;; ++n) {
    SimUniverse universe;
    Machine& survivor = universe.machine("survivor");
    const auto home = survivor.folders.make(place).value();
    const auto open = [&](Machine& machine, Folder& folder, Steps steps) {
      return open_versioned_database(machine.databases, folder, "tend.db", steps, {});
    };
    ASSERT_TRUE(open(survivor, *home, kAll.first(1)));
    Machine& victim = universe.machine("victim");
    const std::int64_t pid = victim.processes.self().pid;
    universe.kill_at_call(pid, n);
    bool done = false;
    try {
      const auto its_home = victim.folders.open(place).value();
      done = open(victim, *its_home, kAll).has_value();
    } catch (const SimKilled&) {
      ++killed;
    }
    const auto next = open(survivor, *home, kAll);
    ASSERT_TRUE(next) << n << ": " << next.error().text;
    EXPECT_EQ(version_of(**next), 3);
    EXPECT_EQ(words_in(**next), 2);
    const auto copy = survivor.databases.open(place + "/tend.db.v1", {}).value();
    EXPECT_EQ(version_of(*copy), 1) << n;
    EXPECT_EQ(words_in(*copy), 1) << n;
    if (done) break;
    ASSERT_LT(n, 1'000U);
  }
  EXPECT_GT(killed, 8);
}

}  // namespace
}  // namespace tend
