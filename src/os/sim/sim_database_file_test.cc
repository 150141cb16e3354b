// What is left of a simulated database when the power is cut; what holds of every database is in
// database_contract_test.cc.
#include "os/sim/sim_database_file.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

constexpr const char* kPath = "/home/user/one.db";
using Numbers = std::vector<std::int64_t>;

class SimDatabaseFileTest : public testing::Test {
 protected:
  SimDatabaseFileTest() {
    EXPECT_TRUE(open()->run_script("CREATE TABLE numbers(n INTEGER PRIMARY KEY)"));
  }
  std::unique_ptr<Database> open(const std::string& process = "test") {
    return universe.machine(process).databases.open(kPath, {}).value();
  }
  static void put(Database& database, std::int64_t n, bool durable = true) {
    const bool before = database.set_durable(durable);
    EXPECT_TRUE(database.run("INSERT INTO numbers VALUES(?)", {n}));
    database.set_durable(before);
  }
  Numbers left_after(SimReboot::Lost lost) {
    universe.reboot({.lost = lost});
    return numbers();
  }
  Numbers numbers() {
    Numbers all;
    const auto database = look_into(universe.databases.at(kPath), kPath);
    EXPECT_TRUE(database->each("SELECT n FROM numbers ORDER BY n", {},
                               [&](const DatabaseRow& row) { all.push_back(row.number(0)); }));
    return all;
  }

  SimUniverse universe;
};

TEST_F(SimDatabaseFileTest, loses_what_was_not_to_last_and_nothing_else) {
  const auto database = open();
  put(*database, 1);
  put(*database, 2, false);
  put(*database, 3, false);
  EXPECT_EQ(left_after(SimReboot::Lost::unsynced), Numbers{1});
}

TEST_F(SimDatabaseFileTest, loses_nothing_when_the_machine_is_shut_down) {
  put(*open(), 1, false);
  EXPECT_EQ(left_after(SimReboot::Lost::nothing), Numbers{1});
}

TEST_F(SimDatabaseFileTest, keeps_with_what_lasts_all_that_was_before_it) {
  const auto database = open();
  put(*database, 1, false);
  put(*open("other"), 2);
  EXPECT_EQ(left_after(SimReboot::Lost::unsynced), (Numbers{1, 2}));
}

TEST_F(SimDatabaseFileTest, moves_the_log_when_the_last_leaves_unless_that_one_promised_nothing) {
  put(*open(), 1, false);
  EXPECT_TRUE(universe.databases.at(kPath)->has_unsynced());
  open("reader").reset();
  EXPECT_FALSE(universe.databases.at(kPath)->has_unsynced());
  const auto stays = open("another");
  put(*open(), 2, false);
  open("reader").reset();
  EXPECT_TRUE(universe.databases.at(kPath)->has_unsynced()) << "it was not the last";
  EXPECT_EQ(left_after(SimReboot::Lost::unsynced), Numbers{1});
}

TEST_F(SimDatabaseFileTest, does_not_move_the_log_when_the_last_is_killed) {
  const auto killed = universe.machine("killed").processes.self().pid;
  {
    const auto reader = open("killed");
    put(*open(), 1, false);
    universe.kill(killed);
  }
  EXPECT_EQ(left_after(SimReboot::Lost::unsynced), Numbers{});
}

TEST_F(SimDatabaseFileTest, tears_into_the_first_of_what_was_not_synced) {
  std::set<Numbers> seen;
  for (int i = 0; i < 100; ++i) {
    put(*open(), 1);
    const auto database = open();
    put(*database, 2, false);
    put(*database, 3, false);
    seen.insert(left_after(SimReboot::Lost::torn));
    EXPECT_TRUE(open()->run("DELETE FROM numbers"));
  }
  EXPECT_EQ(seen, (std::set<Numbers>{{1}, {1, 2}, {1, 2, 3}}));
}

TEST_F(SimDatabaseFileTest, of_a_disk_that_lies_goes_back_to_what_was_synced_before) {
  const auto database = open();
  put(*database, 1);
  universe.disk.syncs_lie = true;
  put(*database, 2);
  put(*database, 3);
  EXPECT_EQ(numbers(), (Numbers{1, 2, 3}));
  EXPECT_EQ(left_after(SimReboot::Lost::unsynced), Numbers{1});
  universe.disk.syncs_lie = false;
  put(*open(), 4);
  EXPECT_EQ(left_after(SimReboot::Lost::unsynced), (Numbers{1, 4})) << "and it goes on from there";
}

TEST_F(SimDatabaseFileTest, is_not_synced_by_a_disk_that_lies_as_its_last_process_leaves) {
  universe.disk.syncs_lie = true;
  put(*open(), 1);
  open("reader").reset();
  EXPECT_EQ(left_after(SimReboot::Lost::unsynced), Numbers{});
}

TEST_F(SimDatabaseFileTest, takes_a_change_back_that_the_power_cut_broke_off) {
  const auto database = open();
  put(*database, 1);
  const auto changed = database->change([&]() -> Result<void> {
    EXPECT_TRUE(database->run("INSERT INTO numbers VALUES(2)"));
    universe.reboot({.lost = SimReboot::Lost::unsynced});
    return fail("there is no power");
  });
  EXPECT_FALSE(changed);
  EXPECT_EQ(numbers(), Numbers{1});
}

TEST_F(SimDatabaseFileTest, lasts_for_others_when_one_was_killed_who_promised_less) {
  auto database = open("killed");
  database->set_durable(false);
  universe.kill(universe.machine("killed").processes.self().pid);
  database.reset();
  const auto others = open();
  put(*others, 1);
  EXPECT_EQ(left_after(SimReboot::Lost::unsynced), Numbers{1});
}

TEST_F(SimDatabaseFileTest, keeps_who_looks_from_outside_and_what_only_that_one_wrote_down) {
  const auto outside = look_into(universe.databases.at(kPath), kPath);
  ASSERT_TRUE(outside->run_script(R"(
      CREATE TEMP TABLE seen(n);
      CREATE TEMP TRIGGER numbers_seen AFTER INSERT ON main.numbers
        BEGIN INSERT INTO seen VALUES(new.n); END;)"));
  put(*open(), 1, false);
  EXPECT_TRUE(outside->run("DELETE FROM seen WHERE n = 0"));
  EXPECT_EQ(left_after(SimReboot::Lost::unsynced), Numbers{});
  put(*open(), 2);
  EXPECT_EQ(outside->run("DELETE FROM seen"), 2) << "it saw both";
}

TEST_F(SimDatabaseFileTest, is_busy_for_as_long_as_somebody_waits) {
  const auto database = open();
  put(*database, 1);
  universe.databases.at(kPath)->busy = true;
  const Instant before = universe.now();
  EXPECT_FALSE(database->run("INSERT INTO numbers VALUES(2)"));
  EXPECT_EQ(database->trouble(), DatabaseTrouble::busy);
  EXPECT_EQ(universe.now() - before, DatabaseSettings{}.may_wait);
  EXPECT_EQ(numbers(), Numbers{1}) << "who reads does not wait";
  universe.databases.at(kPath)->busy = false;
  put(*database, 2);
}

}  // namespace
}  // namespace tend
