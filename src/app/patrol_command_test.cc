// `tend patrol` and `tend explain task:ID` as they are typed, on a simulated machine.
#include "app/patrol_command.h"

#include <gtest/gtest.h>

#include <chrono>

#include "app/reading_test.h"
#include "store/patrol_file.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class PatrolCommand : public testing::Test {
 protected:
  PatrolCommand() {
    reading.variables["USER"] = "alice";
    reading.variables["HOME"] = "/home/user";
  }
  void have_task(const std::string& id) {
    ASSERT_EQ(reading.tend({"task", "add", "the work", "--id", id}).exit, kExitYes);
    ASSERT_EQ(reading.tend({"task", "claim", id}).exit, kExitYes);
  }
  void configure(const std::string& text) {
    reading.universe.disk.write(std::string(Kept::kHome) + "/config.toml", text);
  }
  std::optional<PatrolLockState> state() {
    const auto home = reading.universe.machine().folders.open(Kept::kHome);
    return look_at_patrol(**home).value();
  }

  Reading reading;
};

TEST_F(PatrolCommand, refuses_what_does_not_fit_together_and_intervals_that_are_none) {
  for (const std::vector<std::string_view>& words :
       {std::vector<std::string_view>{"patrol", "--once", "--stop"},
        {"patrol", "-d", "--dry-run"},
        {"patrol", "-d", "--stop"},
        {"patrol", "--interval", "soon"},
        {"patrol", "--interval", "0"},
        {"patrol", "--interval", "1ms"}}) {
    const Answer answer = reading.tend(words);
    EXPECT_EQ(answer.exit, kExitUsage) << words.back();
    EXPECT_EQ(std::ranges::count(answer.err, '\n'), 1) << answer.err;
  }
  EXPECT_FALSE(state());
}

TEST_F(PatrolCommand, a_configuration_that_is_wrong_is_said_and_nothing_begins) {
  configure("[patrol]\nintervall = \"5m\"\n");
  const Answer answer = reading.tend({"patrol", "--once"});
  EXPECT_EQ(answer.exit, kExitUsage);
  EXPECT_TRUE(answer.err.contains("config.toml:2")) << answer.err;
  EXPECT_FALSE(state());
}

TEST_F(PatrolCommand, one_sweep_of_a_quiet_home_is_one_line) {
  const Answer answer = reading.tend({"patrol", "--once"});
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_EQ(std::ranges::count(answer.out, '\n'), 1) << answer.out;
  EXPECT_TRUE(answer.has("0 tasks, 0 silent; 0 agents; all is well")) << answer.out;
  ASSERT_TRUE(state());
  EXPECT_FALSE(state()->record.wanted);
}

TEST_F(PatrolCommand, says_each_decision_and_each_sweep_until_it_is_told_to_end) {
  have_task("web:3");
  const Answer answer = reading.tend({"patrol"}, 25min);
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_TRUE(answer.has("warn task web:3 of alice: never beat, last change 6m")) << answer.out;
  EXPECT_TRUE(answer.has("ping task web:3 of alice: ")) << answer.out;
  EXPECT_TRUE(answer.has("(letter 1 to alice)")) << answer.out;
  EXPECT_TRUE(answer.has("only warns: the patrol has just begun")) << answer.out;
  EXPECT_FALSE(state()->record.wanted);
  EXPECT_FALSE(state()->held);
}

TEST_F(PatrolCommand, with_json_every_line_is_an_object) {
  have_task("t");
  reading.universe.run_for(7min);
  const Answer answer = reading.tend({"patrol", "--once", "--json"});
  std::istringstream lines(answer.out);
  std::vector<nlohmann::json> all;
  for (std::string line; std::getline(lines, line);) all.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(all.size(), 2U) << answer.out;
  EXPECT_EQ(all[0]["kind"], "decision");
  EXPECT_EQ(all[0]["what"], "warn");
  EXPECT_EQ(all[0]["about"], "task t of alice");
  EXPECT_EQ(all[1]["kind"], "sweep");
  EXPECT_EQ(all[1]["tasks"], 1);
  EXPECT_EQ(all[1]["silent"], 1);
}

TEST_F(PatrolCommand, a_dry_run_says_what_would_be_done_and_takes_no_lock) {
  have_task("t");
  reading.universe.run_for(7min);
  const Answer answer = reading.tend({"patrol", "--dry-run"});
  EXPECT_TRUE(answer.has("would warn task t of alice")) << answer.out;
  EXPECT_FALSE(state());
  EXPECT_FALSE(reading.universe.disk.read(std::string(Kept::kHome) + "/patrol.json"));
  EXPECT_FALSE(reading.universe.disk.read(std::string(Kept::kHome) + "/events.jsonl"));
}

TEST_F(PatrolCommand, there_is_nothing_to_stop_where_there_is_none) {
  const Answer answer = reading.tend({"patrol", "--stop"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_EQ(answer.err, "tend patrol: no patrol is at work in this home\n");
}

TEST_F(PatrolCommand, stop_makes_one_unwanted_that_was_killed) {
  const auto home = reading.universe.machine().folders.open(Kept::kHome);
  {
    const auto lock = PatrolLock::take(**home);
    ASSERT_TRUE((*lock)->write({.process = {999'999, 1, 1, "gone"}, .wanted = true}));
  }
  EXPECT_EQ(reading.tend({"patrol", "--stop"}).exit, kExitYes);
  EXPECT_FALSE(state()->record.wanted);
}

TEST_F(PatrolCommand, a_second_one_says_who_is_there) {
  const auto home = reading.universe.machine().folders.open(Kept::kHome);
  const auto lock = PatrolLock::take(**home);
  ASSERT_TRUE((*lock)->write({.process = {4711, 1, 1, "b"}, .wanted = true}));
  const Answer answer = reading.tend({"patrol"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_EQ(answer.err,
            "tend patrol: process 4711 is the patrol of this home; `tend patrol --stop` ends it\n");
}

// --- What `tend status` says of it ---------------------------------------------------------------

TEST_F(PatrolCommand, status_says_nothing_of_a_patrol_where_there_never_was_one) {
  EXPECT_FALSE(reading.tend({"status"}).has("patrol"));
  EXPECT_TRUE(reading.tend({"status", "--json"}).json()["patrol"].is_null());
}

TEST_F(PatrolCommand, status_shows_the_patrol_that_is_at_work_hangs_is_gone_and_was_ended) {
  reading.start_worker();
  reading.tend({"patrol", "--once"});
  const auto home = reading.universe.machine().folders.open(Kept::kHome);
  auto lock = PatrolLock::take(**home).value();
  ASSERT_TRUE(lock->write({.process = {4711, 1, 1, "b"}, .wanted = true}));
  reading.universe.run_for(65s);
  ASSERT_TRUE(lock->beat());
  const Answer there = reading.tend({"status"});
  EXPECT_TRUE(there.out.ends_with("\npatrol: process 4711; last sweep 1m ago, next in 3m\n"))
      << there.out;
  EXPECT_FALSE(reading.tend({"status", "worker-s1"}).has("patrol"));
  const auto json = reading.tend({"status", "--json"}).json()["patrol"];
  EXPECT_EQ(json["state"], "at_work");
  EXPECT_EQ(json["pid"], 4711);
  EXPECT_NEAR(json["last_beat"].get<double>() - json["last_sweep"].get<double>(), 65, 1);
  EXPECT_NEAR(json["next_sweep"].get<double>() - json["last_sweep"].get<double>(), 300, 1);

  reading.universe.run_for(3min);
  const Answer hung = reading.tend({"status"});
  EXPECT_TRUE(hung.has("patrol: process 4711 hangs, its last beat was 3m ago")) << hung.out;
  EXPECT_EQ(reading.tend({"status", "--json"}).json()["patrol"]["state"], "hung");

  lock.reset();
  const Answer gone = reading.tend({"status"});
  EXPECT_TRUE(gone.has("patrol: process 4711 is gone")) << gone.out;
  const auto gone_json = reading.tend({"status", "--json"}).json()["patrol"];
  EXPECT_EQ(gone_json["state"], "gone");
  EXPECT_TRUE(gone_json["pid"].is_null());
  EXPECT_TRUE(gone_json["next_sweep"].is_null());

  reading.tend({"patrol", "--stop"});
  const Answer ended = reading.tend({"status"});
  EXPECT_TRUE(
      ended.has("patrol: none is at work: `tend patrol -d` starts one; last sweep 4m ago\n"))
      << ended.out;
  EXPECT_EQ(reading.tend({"status", "--json"}).json()["patrol"]["state"], "ended");
}

TEST_F(PatrolCommand, status_shows_a_patrol_whose_memory_is_damaged) {
  reading.tend({"patrol", "--once"});
  reading.universe.disk.write(std::string(Kept::kHome) + "/patrol.json", "[]");
  const Answer answer = reading.tend({"status"});
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_TRUE(answer.has("\npatrol: none is at work: `tend patrol -d` starts one\n")) << answer.out;
}

// --- Explaining ---------------------------------------------------------------------------------

TEST_F(PatrolCommand, a_task_is_explained_with_what_was_done_and_what_comes_next) {
  have_task("web:3");
  ASSERT_EQ(reading.tend({"heartbeat", "web:3", "--message", "tests pass"}).exit, kExitYes);
  reading.universe.run_for(7min);
  reading.tend({"patrol", "--once"});
  const Answer answer = reading.tend({"explain", "task:web:3"});
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_TRUE(answer.has("task web:3: in_progress, alice (claim 1)")) << answer.out;
  EXPECT_TRUE(answer.has("says       tests pass")) << answer.out;
  EXPECT_TRUE(answer.has("7m ago, a beat; 1 beat missed")) << answer.out;
  EXPECT_TRUE(answer.has("done       warn; the last")) << answer.out;
  EXPECT_TRUE(answer.has("because    last beat 7m")) << answer.out;
  EXPECT_TRUE(answer.has("next       ping in ")) << answer.out;
  EXPECT_TRUE(answer.has("patrol     none is at work: `tend patrol -d` starts one; last sweep"))
      << answer.out;

  const auto json = reading.tend({"explain", "task:web:3", "--json"}).json();
  EXPECT_EQ(json["task"]["id"], "web:3");
  EXPECT_EQ(json["missed"], 1);
  EXPECT_EQ(json["done"], nlohmann::json::array({"warn"}));
  EXPECT_EQ(json["decided"]["rungs"], nlohmann::json::array({"warn"}));
  EXPECT_EQ(json["next"]["rung"], "ping");
  EXPECT_EQ(json["patrol"]["at_work"], false);
}

TEST_F(PatrolCommand, to_explain_changes_nothing) {
  have_task("t");
  reading.universe.run_for(20min);
  reading.tend({"explain", "task:t"});
  EXPECT_FALSE(state());
  EXPECT_FALSE(reading.universe.disk.read(std::string(Kept::kHome) + "/patrol.json"));
  EXPECT_FALSE(reading.universe.disk.read(std::string(Kept::kHome) + "/events.jsonl"));
}

TEST_F(PatrolCommand, a_task_that_is_left_alone_is_explained_too) {
  have_task("t");
  ASSERT_EQ(reading.tend({"task", "close", "t"}).exit, kExitYes);
  const Answer answer = reading.tend({"explain", "task:t"});
  EXPECT_TRUE(answer.has("it is closed: it is left alone")) << answer.out;
  EXPECT_TRUE(answer.has("nothing, until something changes")) << answer.out;
}

TEST_F(PatrolCommand, a_task_that_is_not_there_cannot_be_explained) {
  const Answer answer = reading.tend({"explain", "task:no"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_TRUE(answer.err.starts_with("tend explain: ")) << answer.err;
  EXPECT_EQ(reading.tend({"explain", "task:"}).exit, kExitUsage);
}

}  // namespace
}  // namespace tend
