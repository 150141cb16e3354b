// The keeper on a simulated machine: one life from its begin to its end, and what happens when
// things go wrong on the way.
#include "run/keeper.h"

#include <fmt/format.h>

#include <chrono>
#include <string>

#include "run/kept_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

void print_every_second(SimSelf& self) {
  self.every(1s, [n = 0](SimSelf& me) mutable { me.print("line " + std::to_string(++n) + "\n"); });
}

TEST(Keeper, starts_the_agent_and_says_so_in_its_heartbeat) {
  Kept kept;
  kept.universe.behaviours["worker"] = print_every_second;
  kept.start_keeper();
  kept.universe.run_for(3s);
  ASSERT_EQ(kept.problem, "");
  ASSERT_EQ(kept.workers().size(), 1U);
  const Heartbeat heartbeat = kept.heartbeat();
  EXPECT_EQ(heartbeat.status, Status::running);
  EXPECT_EQ(heartbeat.life, 1U);
  EXPECT_EQ(heartbeat.process.pid, kept.workers().front());
  EXPECT_EQ(heartbeat.keeper.pid, kept.keeper);
  EXPECT_EQ(heartbeat.verdict, Verdict::working);
  const auto facts = kept.universe.facts(kept.workers().front());
  ASSERT_TRUE(facts);
  EXPECT_NE(std::ranges::find(facts->environment, "TEND_INFRA=" + std::string(Kept::kFolder)),
            facts->environment.end());
}

TEST(Keeper, beats_while_the_process_lives_and_not_one_beat_longer) {
  Kept kept;
  kept.agent.beat = 30s;
  kept.universe.behaviours["worker"] = [](SimSelf& self) { self.exit_after(100s, 0); };
  kept.start_keeper();
  kept.universe.run_for(95s);
  const auto living = kept.universe.disk.modified(kept.path(".heartbeat"));
  ASSERT_TRUE(living);
  EXPECT_LE(kept.universe.wall() - *living, 31s);
  kept.universe.run_for(300s);
  const auto dead = kept.universe.disk.modified(kept.path(".heartbeat"));
  ASSERT_TRUE(dead);
  EXPECT_LE(*dead - *living, 10s);
  EXPECT_TRUE(kept.over());
}

TEST(Keeper, asks_for_little_at_every_other_beat_of_one_that_nobody_doubts) {
  Kept kept;
  kept.be_patient_as_with_an_agent();
  kept.universe.behaviours["worker"] = hang;
  kept.start_keeper();
  kept.universe.run_for(2min);
  std::vector<std::uint64_t> asked;
  for (int beat = 0; beat < 6; ++beat) {
    const WallTime beaten = *kept.universe.disk.modified(Kept::path(".heartbeat"));
    const std::uint64_t before = kept.universe.calls(kept.keeper);
    kept.universe.run_for(30s);
    asked.push_back(kept.universe.calls(kept.keeper) - before);
    EXPECT_EQ(kept.universe.disk.modified(Kept::path(".heartbeat")), beaten + 30s);
  }
  EXPECT_EQ(word(kept.heartbeat().verdict), "working");
  std::ranges::sort(asked);
  EXPECT_LT(2 * asked[2], asked[3]) << "half of the beats have no look";
}

TEST(Keeper, sees_within_a_minute_what_no_hint_told_of) {
  Kept kept;
  kept.be_patient_as_with_an_agent();
  kept.universe.behaviours["worker"] = [](SimSelf& self) {
    self.print("hello\n");
    self.print_after(5min, "here I am\n");
  };
  kept.start_keeper();
  kept.universe.run_for(4min);
  kept.universe.hints = SimHints::none;
  kept.universe.run_for(59s);
  const std::string before = kept.text_of("journal.jsonl");
  kept.universe.run_for(62s);
  EXPECT_NE(kept.text_of("journal.jsonl"), before);
}

TEST(Keeper, ends_with_the_agent_and_writes_how_it_ended) {
  Kept kept;
  kept.universe.behaviours["worker"] = [](SimSelf& self) { self.exit_after(5s, 0); };
  kept.start_keeper();
  kept.universe.run_for(10s);
  EXPECT_FALSE(kept.universe.runs(kept.keeper));
  const Heartbeat heartbeat = kept.heartbeat();
  EXPECT_EQ(heartbeat.status, Status::completed);
  EXPECT_EQ(heartbeat.outcome, WorkOutcome::done);
  EXPECT_EQ(heartbeat.exit, (Exit{Exit::How::code, 0}));
  EXPECT_FALSE(kept.universe.disk.is_locked(kept.path(".lock")));
}

TEST(Keeper, takes_exit_0_of_a_program_that_printed_something_for_a_good_end) {
  Kept kept;
  kept.universe.behaviours["worker"] = [](SimSelf& self) {
    self.print_after(1s, "a line without an end");
    self.exit_after(5s, 0);
  };
  kept.start_keeper();
  kept.universe.run_for(10s);
  EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::done);
}

TEST(Keeper, calls_a_failed_program_failed_and_does_not_bring_it_back_unless_told_to) {
  Kept kept;
  kept.universe.behaviours["worker"] = [](SimSelf& self) { self.exit_after(5s, 3); };
  kept.start_keeper();
  kept.universe.run_for(60s);
  const Heartbeat heartbeat = kept.heartbeat();
  EXPECT_EQ(heartbeat.status, Status::withdrawn);
  EXPECT_EQ(heartbeat.outcome, WorkOutcome::failed);
  EXPECT_EQ(heartbeat.exit, (Exit{Exit::How::code, 3}));
  EXPECT_EQ(heartbeat.life, 1U);
}

TEST(Keeper, brings_back_what_was_killed) {
  Kept kept;
  kept.be_patient_as_with_an_agent();
  kept.universe.behaviours["worker"] = print_every_second;
  kept.start_keeper();
  kept.universe.run_for(10s);
  const auto first = kept.workers().front();
  kept.universe.signal(first, Kill::kill);
  kept.universe.run_for(5s);
  ASSERT_EQ(kept.workers().size(), 1U);
  EXPECT_NE(kept.workers().front(), first);
  EXPECT_EQ(kept.heartbeat().life, 2U);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::working);
  const auto facts = kept.universe.facts(kept.workers().front());
  EXPECT_NE(std::ranges::find(facts->environment, "TEND_RESUME=1"), facts->environment.end());
  EXPECT_NE(std::ranges::find(facts->environment, "TEND_LIFE=2"), facts->environment.end());
}

TEST(Keeper, says_why_a_program_could_not_be_started_and_ends) {
  Kept kept;
  kept.agent.command = {"no-such-program"};
  kept.start_keeper();
  kept.universe.run_for(5s);
  const Heartbeat heartbeat = kept.heartbeat();
  EXPECT_EQ(heartbeat.status, Status::withdrawn);
  EXPECT_EQ(heartbeat.outcome, WorkOutcome::failed);
  EXPECT_EQ(heartbeat.exit, (Exit{Exit::How::code, 127}));
  EXPECT_NE(heartbeat.note, "");
  EXPECT_FALSE(kept.universe.runs(kept.keeper));
}

TEST(Keeper, finds_one_that_hangs_ends_it_and_resumes_it) {
  Kept kept;
  kept.be_patient_as_with_an_agent();
  kept.universe.behaviours["worker"] = [](SimSelf& self) { self.print_after(1s, "hello\n"); };
  kept.start_keeper();
  kept.universe.run_for(800s);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::suspect);
  EXPECT_EQ(kept.heartbeat().life, 1U);
  kept.universe.run_for(100s);
  EXPECT_EQ(kept.heartbeat().life, 2U);
  EXPECT_EQ(kept.count("action", "kill"), 1);
  EXPECT_EQ(kept.workers().size(), 1U);
}

TEST(Keeper, never_kills_under_policy_plain) {
  Kept kept;
  kept.universe.behaviours["worker"] = [](SimSelf& self) { self.print_after(1s, "hello\n"); };
  kept.start_keeper();
  kept.universe.run_for(48h);
  EXPECT_EQ(kept.workers().size(), 1U);
  EXPECT_EQ(kept.heartbeat().life, 1U);
  EXPECT_EQ(kept.count("action", "kill"), 0);
}

TEST(Keeper, stops_when_told_to_and_calls_it_stopped) {
  Kept kept;
  kept.be_patient_as_with_an_agent();
  kept.universe.behaviours["worker"] = print_every_second;
  kept.start_keeper();
  kept.universe.run_for(10s);
  kept.say({.want = Want::stop, .by = "tend stop", .at = 1});
  kept.universe.run_for(10s);
  EXPECT_TRUE(kept.workers().empty());
  const Heartbeat heartbeat = kept.heartbeat();
  EXPECT_EQ(heartbeat.status, Status::withdrawn);
  EXPECT_EQ(heartbeat.outcome, WorkOutcome::stopped);
  EXPECT_EQ(heartbeat.ended_by, "tend stop");
}

TEST(Keeper, insists_when_the_agent_ignores_polite_signals) {
  Kept kept;
  kept.universe.behaviours["worker"] = [](SimSelf& self) {
    self.ignore(Kill::interrupt);
    self.ignore(Kill::terminate);
  };
  kept.start_keeper();
  kept.universe.run_for(2s);
  kept.say({.want = Want::stop, .by = "tend stop", .at = 1});
  kept.universe.run_for(10s);
  EXPECT_EQ(kept.workers().size(), 1U) << "killed too early";
  kept.universe.run_for(20s);
  EXPECT_TRUE(kept.workers().empty());
  EXPECT_TRUE(kept.over());
}

TEST(Keeper, pauses_the_processes_and_judges_nobody_meanwhile) {
  Kept kept;
  kept.be_patient_as_with_an_agent();
  kept.universe.behaviours["worker"] = print_every_second;
  kept.start_keeper();
  kept.universe.run_for(10s);
  kept.say({.want = Want::pause, .by = "tend pause", .at = 1});
  kept.universe.run_for(5s);
  EXPECT_EQ(kept.universe.facts(kept.workers().front())->state, RunState::stopped);
  EXPECT_EQ(kept.heartbeat().status, Status::paused);
  kept.universe.run_for(5h);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::waiting);
  kept.say({.want = Want::run, .by = "tend unpause", .at = 2});
  kept.universe.run_for(5s);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::working);
  EXPECT_EQ(kept.heartbeat().life, 1U);
}

TEST(Keeper, ends_what_the_old_life_left_before_a_new_one_starts) {
  Kept kept;
  kept.be_patient_as_with_an_agent();
  kept.universe.behaviours["tool"] = [](SimSelf&) {};
  kept.universe.behaviours["worker"] = [](SimSelf& self) {
    print_every_second(self);
    self.spawn({.command = {"tool"}, .environment = {}, .own_session = true});
  };
  kept.start_keeper();
  kept.universe.run_for(5s);
  const auto tool = kept.universe.pids("tool").front();
  kept.universe.signal(kept.workers().front(), Kill::kill);
  kept.universe.run_for(60s);
  EXPECT_FALSE(kept.universe.runs(tool));
  EXPECT_EQ(kept.workers().size(), 1U);
  EXPECT_EQ(kept.universe.pids("tool").size(), 1U) << "the new life's own";
}

TEST(Keeper, holds_one_that_dies_the_same_way_again_and_again) {
  Kept kept;
  kept.be_patient_as_with_an_agent();
  kept.universe.behaviours["worker"] = [](SimSelf& self) {
    self.print_after(1s, "hello\n");
    self.exit_after(2s, 1);
  };
  kept.start_keeper();
  kept.universe.run_for(5min);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::looping);
  EXPECT_TRUE(kept.workers().empty());
  EXPECT_TRUE(kept.universe.runs(kept.keeper));
  EXPECT_LE(kept.heartbeat().life, 4U);
}

TEST(Keeper, says_when_the_next_life_begins_as_long_as_it_waits_for_it) {
  Kept kept;
  kept.be_patient_as_with_an_agent();
  kept.universe.behaviours["worker"] = [](SimSelf& self) { self.exit_after(2s, 1); };
  kept.start_keeper();
  for (int i = 0; i < 100 && kept.heartbeat().next.empty(); ++i) kept.universe.run_for(100ms);
  const Heartbeat waiting = kept.heartbeat();
  EXPECT_EQ(waiting.next, fmt::format("life {} begins", waiting.life + 1));
  EXPECT_GT(waiting.next_at, waiting.since);
  while (kept.heartbeat().life == waiting.life) kept.universe.run_for(100ms);
  EXPECT_EQ(kept.heartbeat().next, "");
  EXPECT_EQ(kept.heartbeat().next_at, 0);
}

// --- The keeper's own trouble -------------------------------------------------------------------

TEST(Keeper, leaves_the_agent_alone_when_it_dies_and_another_one_goes_on) {
  Kept kept;
  kept.be_patient_as_with_an_agent();
  kept.universe.behaviours["worker"] = print_every_second;
  kept.start_keeper();
  kept.universe.run_for(10s);
  const auto worker = kept.workers().front();
  kept.universe.kill(kept.keeper);
  kept.universe.run_for(10s);
  ASSERT_TRUE(kept.universe.runs(worker));
  kept.start_keeper();
  kept.universe.run_for(10s);
  ASSERT_EQ(kept.problem, "");
  EXPECT_TRUE(kept.universe.runs(worker));
  EXPECT_EQ(kept.heartbeat().life, 1U);
  EXPECT_EQ(kept.heartbeat().keeper.pid, kept.keeper);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::working);
  kept.universe.signal(worker, Kill::kill);
  kept.universe.run_for(10s);
  EXPECT_EQ(kept.heartbeat().life, 2U);
}

TEST(Keeper, lets_only_one_keep_an_agent) {
  Kept kept;
  kept.universe.behaviours["worker"] = print_every_second;
  const auto first = kept.start_keeper();
  kept.universe.run_for(2s);
  const auto second = kept.start_keeper();
  kept.universe.run_for(2s);
  EXPECT_TRUE(kept.universe.runs(first));
  EXPECT_FALSE(kept.universe.runs(second));
  EXPECT_EQ(kept.workers().size(), 1U);
}

TEST(Keeper, judges_nobody_for_its_own_pause) {
  Kept kept;
  kept.be_patient_as_with_an_agent();
  kept.universe.behaviours["worker"] = print_every_second;
  kept.start_keeper();
  kept.universe.run_for(10s);
  kept.universe.pause(kept.keeper);
  kept.universe.run_for(2h);
  kept.universe.go_on(kept.keeper);
  kept.universe.run_for(5s);
  EXPECT_EQ(kept.count("action", "kill"), 0);
  EXPECT_EQ(kept.heartbeat().life, 1U);
  kept.universe.run_for(2min);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::working);
}

TEST(Keeper, judges_nobody_for_a_sleep_of_the_machine) {
  Kept kept;
  kept.be_patient_as_with_an_agent();
  kept.universe.behaviours["worker"] = print_every_second;
  kept.start_keeper();
  kept.universe.run_for(10s);
  kept.universe.sleep_machine(8h);
  kept.universe.run_for(3min);
  EXPECT_EQ(kept.count("action", "kill"), 0);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::working);
}

TEST(Keeper, goes_on_after_a_reboot_and_spends_nothing_for_it) {
  Kept kept;
  kept.be_patient_as_with_an_agent();
  kept.universe.behaviours["worker"] = print_every_second;
  kept.start_keeper();
  kept.universe.run_for(100s);
  kept.universe.reboot();
  kept.start_keeper();
  kept.universe.run_for(3min);
  ASSERT_EQ(kept.problem, "");
  EXPECT_EQ(kept.heartbeat().life, 2U);
  EXPECT_EQ(kept.workers().size(), 1U);
  EXPECT_EQ(kept.heartbeat().resumes_spent, 0U);
}

/// Kills the keeper at its n-th call of the machine, for every n, and puts another one on.
TEST(Keeper, can_be_killed_at_every_call_of_its_start) {
  std::uint64_t calls = 0;
  {
    Kept kept;
    kept.be_patient_as_with_an_agent();
    kept.universe.behaviours["worker"] = print_every_second;
    kept.start_keeper();
    kept.universe.run_for(1s);
    calls = kept.universe.calls(kept.keeper);
  }
  ASSERT_GT(calls, 20U);
  for (std::uint64_t n = 1; n <= calls; ++n) {
    Kept kept;
    kept.be_patient_as_with_an_agent();
    kept.universe.behaviours["worker"] = print_every_second;
    kept.universe.kill_at_call(kept.start_keeper(), n);
    kept.universe.run_for(2s);
    kept.start_keeper();
    kept.universe.run_for(20s);
    ASSERT_EQ(kept.problem, "") << "killed at call " << n;
    EXPECT_EQ(kept.workers().size(), 1U) << "killed at call " << n;
    EXPECT_EQ(kept.heartbeat().status, Status::running) << "killed at call " << n;
    EXPECT_LE(kept.heartbeat().life, 2U) << "killed at call " << n;
    EXPECT_EQ(kept.heartbeat().resumes_spent, 0U) << "killed at call " << n;
    EXPECT_EQ(kept.heartbeat().verdict, Verdict::working) << "killed at call " << n;
  }
}

}  // namespace
}  // namespace tend
