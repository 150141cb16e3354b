// Programs that run only while they lead, on the simulated machine.
#include "run/lease_runner.h"

#include "run/lease_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

using LeaseRunnerTest = LeaseTest;
using How = LeaseRunner::End::How;

TEST_F(LeaseRunnerTest, runs_a_program_to_its_end_and_gives_the_lease_back) {
  const auto pid = run("a", {"short"});
  universe_->run_for(500ms);
  EXPECT_EQ(holder(), "a");
  EXPECT_EQ(fence_of("short"), "1");
  EXPECT_EQ(record()->run.first.pid, universe_->pids("short").at(0));
  universe_->run_for(2s);
  ASSERT_TRUE(ends_.contains("a"));
  EXPECT_EQ(ends_["a"].how, How::ran);
  EXPECT_EQ(ends_["a"].exit_code, 7);
  EXPECT_EQ(holder(), "nobody");
  EXPECT_EQ(record()->run, LeaseRun{});
  EXPECT_FALSE(universe_->runs(pid));
}

TEST_F(LeaseRunnerTest, renews_for_as_long_as_the_program_runs) {
  run("a", {"works"});
  universe_->run_for(1h);
  EXPECT_EQ(holder(), "a");
  EXPECT_EQ(record()->fence, 1U);
  EXPECT_LT(universe_->awake() - record()->renewed, 11s);
}

TEST_F(LeaseRunnerTest, waits_its_turn_and_is_next_the_moment_the_lease_is_given_back) {
  run("a", {"short"});
  universe_->run_for(10ms);
  run("b", {"works"});
  universe_->run_for(10ms);
  run("c", {"works"});
  universe_->run_for(900ms);
  EXPECT_EQ(acting(), 0U);
  universe_->run_for(200ms);
  EXPECT_EQ(holder(), "b") << "who came first is first";
  EXPECT_EQ(fence_of("works"), "2");
  EXPECT_EQ(acting(), 1U);
}

TEST_F(LeaseRunnerTest, says_once_that_it_waits_and_before_its_program_runs_that_it_leads) {
  const std::int64_t first = run("a", {"works"});
  universe_->run_for(10ms);
  std::string said_before;
  universe_->behaviours["looks"] = [&](SimSelf&) { said_before = queued_["b"]; };
  run("b", {"looks"});
  universe_->run_for(3min);
  EXPECT_EQ(queued_["b"], "waits ");
  universe_->kill(first);
  universe_->run_for(1min);
  EXPECT_EQ(queued_["b"], "waits goes-on ");
  EXPECT_EQ(said_before, "waits goes-on ");
  EXPECT_EQ(queued_["a"], "") << "it never waited";
}

TEST_F(LeaseRunnerTest, says_that_it_waits_no_more_also_when_it_is_told_to_end) {
  run("a", {"works"});
  universe_->run_for(10ms);
  const std::int64_t second = run("b", {"works"});
  universe_->run_for(1min);
  universe_->signal(second, Kill::terminate);
  universe_->run_for(1s);
  EXPECT_EQ(ends_["b"].how, LeaseRunner::End::How::broken_off);
  EXPECT_EQ(queued_["b"], "waits goes-on ");
}

TEST_F(LeaseRunnerTest, costs_the_others_half_a_second_if_the_first_in_line_is_stopped) {
  run("a", {"short"});
  universe_->run_for(10ms);
  const auto first = run("b", {"works"});
  universe_->run_for(10ms);
  run("c", {"works"});
  universe_->run_for(10ms);
  universe_->signal(first, Kill::stop);
  universe_->run_for(2s);
  EXPECT_EQ(holder(), "c");
  universe_->signal(first, Kill::cont);
  universe_->run_for(10s);
  EXPECT_EQ(holder(), "c");
  EXPECT_EQ(acting(), 1U);
}

TEST_F(LeaseRunnerTest, does_not_wait_if_told_so) {
  run("a", {"works"});
  universe_->run_for(10ms);
  run("b", {"works"}, 30s, false);
  universe_->run_for(10ms);
  ASSERT_TRUE(ends_.contains("b"));
  EXPECT_EQ(ends_["b"].how, How::refused);
  EXPECT_EQ(ends_["b"].exit_code, 1);
  EXPECT_EQ(ends_["b"].refusal, LeaseRefusal::held);
}

TEST_F(LeaseRunnerTest, says_why_a_program_cannot_be_run_and_gives_the_lease_back) {
  run("a", {"missing"});
  universe_->run_for(1s);
  EXPECT_EQ(ends_["a"].how, How::not_started);
  EXPECT_GE(ends_["a"].exit_code, 126);
  EXPECT_EQ(holder(), "nobody");
}

TEST_F(LeaseRunnerTest, of_one_that_was_killed_the_successor_ends_the_program_first) {
  const auto a = run("a", {"works"});
  universe_->run_for(10ms);
  const auto program = universe_->pids("works").at(0);
  run("b", {"short"});
  universe_->run_for(10ms);
  universe_->signal(a, Kill::kill);
  EXPECT_TRUE(universe_->runs(program)) << "nobody has ended it yet";
  universe_->run_for(500ms);
  EXPECT_FALSE(universe_->runs(program));
  EXPECT_EQ(holder(), "b") << "at once, not after its time";
  EXPECT_EQ(fence_of("short"), "2");
}

TEST_F(LeaseRunnerTest, I204_of_one_that_is_stopped_the_successor_waits_for_the_fence) {
  const auto a = run("a", {"works"});
  universe_->run_for(10ms);
  const auto program = universe_->pids("works").at(0);
  run("b", {"short"});
  universe_->run_for(1s);
  universe_->signal(a, Kill::stop);
  universe_->run_for(28s);
  EXPECT_EQ(holder(), "a") << "its time is not over";
  EXPECT_TRUE(universe_->runs(program));
  universe_->run_for(2s);
  EXPECT_FALSE(universe_->runs(program)) << "ended before the lease was taken";
  EXPECT_EQ(record()->fence, 2U);
  universe_->signal(a, Kill::cont);
  universe_->run_for(1s);
  EXPECT_EQ(ends_["a"].how, How::lost);
  EXPECT_EQ(ends_["a"].exit_code, kExitLeaseLost);
}

TEST_F(LeaseRunnerTest, I204_a_tool_that_blocks_the_program_keeps_nobody_from_renewing) {
  run("a", {"stubborn"}, 60s);
  universe_->run_for(10ms);
  run("b", {"works"}, 60s);
  universe_->run_for(180s);
  EXPECT_EQ(holder(), "a");
  EXPECT_EQ(acting(), 0U) << "no second one";
}

TEST_F(LeaseRunnerTest, does_not_renew_for_a_program_that_is_stopped) {
  run("a", {"works"}, 60s);
  universe_->run_for(10ms);
  const auto program = universe_->pids("works").at(0);
  universe_->signal(program, Kill::stop);
  run("b", {"stubborn"}, 60s);
  universe_->run_for(30s);
  EXPECT_EQ(holder(), "a") << "it may go on in time";
  universe_->run_for(60s);
  EXPECT_EQ(holder(), "b");
  EXPECT_FALSE(universe_->runs(program));
  EXPECT_EQ(ends_["a"].how, How::lost);
}

TEST_F(LeaseRunnerTest, I085_ends_a_program_that_will_not_stop_before_its_time_is_over) {
  run("a", {"stubborn"}, 30s);
  universe_->run_for(10ms);
  const Duration renewed = record()->renewed;
  universe_->disk.broken = "Input/output error";
  const auto program = universe_->pids("stubborn").at(0);
  ASSERT_TRUE(universe_->run_until([&] { return !universe_->runs(program); }, 40s));
  const Duration age = universe_->awake() - renewed;
  EXPECT_GE(age, lease_insists_after(30s));
  EXPECT_LT(age, 30s) << "before anybody else could have it";
}

TEST_F(LeaseRunnerTest, I085_asks_first_after_two_thirds_of_its_time) {
  run("a", {"works"}, 30s);
  universe_->run_for(10ms);
  const Duration renewed = record()->renewed;
  universe_->disk.broken = "Input/output error";
  const auto program = universe_->pids("works").at(0);
  ASSERT_TRUE(universe_->run_until([&] { return !universe_->runs(program); }, 40s));
  const Duration age = universe_->awake() - renewed;
  EXPECT_GE(age, lease_asks_after(30s));
  EXPECT_LT(age, lease_insists_after(30s));
  universe_->run_for(1s);
  EXPECT_EQ(ends_["a"].how, How::lost);
}

TEST_F(LeaseRunnerTest, goes_on_if_only_some_renewals_fail) {
  run("a", {"works"}, 30s);
  universe_->run_for(10ms);
  for (int i = 0; i < 10; ++i) {
    universe_->disk.broken = "Input/output error";
    universe_->run_for(15s);
    universe_->disk.broken = "";
    universe_->run_for(15s);
  }
  EXPECT_EQ(holder(), "a");
  EXPECT_EQ(acting(), 1U);
}

TEST_F(LeaseRunnerTest, I087_one_whose_loop_was_blocked_acts_no_more_when_it_goes_on) {
  const auto a = run("a", {"works"}, 30s);
  universe_->run_for(10ms);
  universe_->signal(a, Kill::stop);
  universe_->run_for(10min);
  EXPECT_EQ(holder(), "a") << "nobody else wanted it";
  universe_->signal(a, Kill::cont);
  universe_->run_for(1s);
  EXPECT_EQ(acting(), 0U) << "its fence was not in force any more";
  EXPECT_EQ(ends_["a"].how, How::lost);
}

TEST_F(LeaseRunnerTest, I086_after_three_unclean_takeovers_the_next_one_waits_and_people_are_told) {
  std::int64_t last = run("a0", {"works"}, 30s);
  universe_->run_for(10ms);
  for (int i = 1; i <= 3; ++i) {
    const auto next = run("a" + std::to_string(i), {"works"}, 30s);
    universe_->run_for(1s);
    universe_->signal(last, Kill::kill);
    universe_->run_for(1s);
    EXPECT_EQ(holder(), "a" + std::to_string(i));
    last = next;
  }
  EXPECT_EQ(flaps_, std::vector<std::uint64_t>{4U}) << "the third time, and not before";
  run("a4", {"works"}, 30s);
  universe_->run_for(1s);
  universe_->signal(last, Kill::kill);
  universe_->run_for(20s);
  EXPECT_EQ(record()->fence, 4U) << "not at once";
  EXPECT_EQ(std::ranges::count_if(said_["a4"],
                                  [](const std::string& text) {
                                    return text.starts_with("leader is held back for ");
                                  }),
            1)
      << "and whoever waits knows why";
  universe_->run_for(50s);
  EXPECT_EQ(holder(), "a4");
  EXPECT_EQ(flaps_, (std::vector<std::uint64_t>{4U, 5U}));
  EXPECT_EQ(calm_, 0);
  universe_->run_for(300s);
  EXPECT_EQ(holder(), "a4");
  EXPECT_EQ(calm_, 1) << "once, when ten of its times went by";
}

/// Late by more than the time between two renewals, and not so late that it is lost.
TEST_F(LeaseRunnerTest, I086_holds_for_longer_the_later_renewals_come) {
  std::int64_t last = run("a0", {"works"}, 30s);
  universe_->run_for(10ms);
  for (int i = 1; i <= 3; ++i) {
    const auto next = run("a" + std::to_string(i), {"works"}, 30s);
    ASSERT_TRUE(
        universe_->run_until([&] { return universe_->awake() - record()->renewed < 100ms; }, 20s));
    universe_->signal(last, Kill::stop);
    universe_->run_for(25s);
    universe_->signal(last, Kill::cont);
    universe_->run_for(1s);
    EXPECT_EQ(record()->fence, static_cast<std::uint64_t>(i)) << "it was renewed in time";
    EXPECT_GE(record()->lag, 15s);
    EXPECT_LE(record()->lag, 16s);
    universe_->signal(last, Kill::kill);
    universe_->run_for(1s);
    EXPECT_EQ(holder(), "a" + std::to_string(i));
    last = next;
  }
  run("a4", {"works"}, 30s);
  universe_->run_for(1s);
  universe_->signal(last, Kill::kill);
  const Duration renewed = record()->renewed;
  const Duration lag = record()->lag;
  EXPECT_GE(lag, 10s) << "the next holder does not forget it";
  ASSERT_TRUE(universe_->run_until([&] { return record()->fence == 5; }, 10min));
  EXPECT_GE(universe_->awake() - renewed, lease_holds_until(30s, lag));
  EXPECT_LT(universe_->awake() - renewed, lease_holds_until(30s, lag) + 6s);
}

TEST_F(LeaseRunnerTest, I086_forgets_the_lag_of_a_machine_that_has_time_again) {
  const auto a = run("a", {"works"}, 30s);
  universe_->run_for(9s);
  universe_->signal(a, Kill::stop);
  universe_->run_for(16s);
  universe_->signal(a, Kill::cont);
  universe_->run_for(1s);
  EXPECT_GE(record()->lag, 15s);
  universe_->run_for(300s);
  EXPECT_LT(record()->lag, 1s);
}

/// Three that want it on a machine that is too busy: whoever leads is stopped for longer and
/// longer.
TEST_F(LeaseRunnerTest, I086_of_three_that_are_late_never_two_act_and_people_are_told_of_it) {
  std::uint64_t latest = 0;
  universe_->behaviours["acts"] = [&](SimSelf& self) {
    const std::uint64_t fence = std::stoull(self.variable("TEND_FENCE").value_or("0"));
    EXPECT_GT(fence, latest) << "a program began under an old fence";
    latest = std::max(latest, fence);
    self.every(100ms,
               [&, fence](SimSelf&) { EXPECT_EQ(fence, latest) << "acts beside its successor"; });
  };
  std::map<std::string, std::int64_t> pids;
  int number = 0;
  const auto fill = [&] {
    while (pids.size() < 3) {
      const std::string name = std::to_string(number++);
      pids[name] = run(name, {"acts"}, 3s);
    }
  };
  Duration longest_hold{};
  for (int i = 0; i < 40; ++i) {
    fill();
    universe_->run_for(2s);
    const std::string leader = holder();
    if (!pids.contains(leader)) continue;
    universe_->signal(pids[leader], Kill::stop);
    universe_->run_for(500ms * (1 + i % 12));
    universe_->signal(pids[leader], Kill::cont);
    universe_->run_for(2s);
    longest_hold = std::max(longest_hold, lease_holds_until(3s, record()->lag));
    std::erase_if(pids, [&](const auto& one) { return ends_.contains(one.first); });
  }
  EXPECT_GT(record()->fence, 4U) << "it went from hand to hand";
  EXPECT_GT(longest_hold, 6s);
  EXPECT_LE(longest_hold, 12s) << "and not without bounds";
  EXPECT_FALSE(flaps_.empty());
}

TEST_F(LeaseRunnerTest, ends_what_the_program_left_behind_before_it_gives_the_lease_back) {
  universe_->behaviours["leaves"] = [](SimSelf& self) {
    self.spawn({.command = {"works"}, .environment = {}, .own_session = true});
    self.exit_after(1s, 0);
  };
  run("a", {"leaves"});
  universe_->run_for(500ms);
  EXPECT_EQ(acting(), 1U);
  universe_->run_for(2s);
  EXPECT_EQ(acting(), 0U);
  EXPECT_EQ(ends_["a"].how, How::ran);
  EXPECT_EQ(ends_["a"].exit_code, 0);
}

TEST_F(LeaseRunnerTest, passes_an_order_to_end_on_and_gives_the_lease_back) {
  const auto a = run("a", {"works"});
  universe_->run_for(10ms);
  universe_->order(a, Order::terminate);
  universe_->run_for(1s);
  EXPECT_EQ(acting(), 0U);
  EXPECT_EQ(ends_["a"].how, How::ran);
  EXPECT_EQ(holder(), "nobody");
}

TEST_F(LeaseRunnerTest, leaves_the_line_when_it_is_told_to_end) {
  run("a", {"works"});
  universe_->run_for(10ms);
  const auto b = run("b", {"works"});
  universe_->run_for(1s);
  universe_->order(b, Order::interrupt);
  universe_->run_for(1s);
  EXPECT_EQ(ends_["b"].how, How::broken_off);
  EXPECT_EQ(ends_["b"].exit_code, 130);
  EXPECT_FALSE(
      universe_->disk.exists(std::string(kLeaseHome) + "/leases/leader/queue/000000000001"));
}

TEST_F(LeaseRunnerTest, killed_at_any_of_its_calls_leaves_a_lease_that_the_next_one_gets) {
  for (std::uint64_t call = 1; call < 400; ++call) {
    begin_anew(call);
    const auto a = run("a", {"short"}, 3s);
    universe_->kill_at_call(a, call, true);
    universe_->run_for(10s);
    const bool was_killed = !ends_.contains("a");
    const std::uint64_t fence = record() ? record()->fence : 0;
    run("b", {"short"}, 3s);
    universe_->run_for(10s);
    ASSERT_TRUE(ends_.contains("b")) << "call " << call;
    EXPECT_EQ(ends_["b"].exit_code, 7) << "call " << call;
    EXPECT_GT(record()->fence, fence) << "call " << call;
    EXPECT_EQ(acting("short"), 0U) << "call " << call;
    if (!was_killed) return;
  }
  FAIL() << "it never came to its end";
}

/// Fifty that want it, stopped, killed and started anew at random, in the same universe: never do
/// two programs run that are not on their way to be ended.
TEST_F(LeaseRunnerTest, never_lets_two_act_under_fences_that_are_in_force) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    begin_anew(seed);
    std::uint64_t latest = 0;
    universe_->behaviours["acts"] = [&](SimSelf& self) {
      const std::uint64_t fence = std::stoull(self.variable("TEND_FENCE").value_or("0"));
      EXPECT_GT(fence, latest) << "a program began under an old fence, seed " << seed;
      latest = std::max(latest, fence);
      self.every(100ms, [&, fence](SimSelf&) {
        EXPECT_EQ(fence, latest) << "acts beside its successor, seed " << seed;
      });
    };
    std::vector<std::int64_t> all;
    int number = 0;
    const auto add = [&] { all.push_back(run(std::to_string(number++), {"acts"}, 3s)); };
    for (int i = 0; i < 10; ++i) add();
    std::uint64_t random = seed;
    const auto next = [&](std::size_t below) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      return static_cast<std::size_t>((random >> 33U) % below);
    };
    for (int i = 0; i < 300; ++i) {
      universe_->run_for(Duration{next(400)});
      const std::int64_t one = all[next(all.size())];
      const auto programs = universe_->pids("acts");
      const std::int64_t victim = next(3) == 0 && !programs.empty() ? programs.front() : one;
      if (!universe_->runs(victim)) continue;
      switch (next(4)) {
        case 0:
          universe_->signal(victim, Kill::stop);
          break;
        case 1:
        case 2:
          universe_->signal(victim, Kill::cont);
          break;
        default:
          universe_->signal(victim, Kill::kill);
          if (victim == one) add();
      }
    }
    EXPECT_GT(latest, 3U) << "somebody led, seed " << seed;
  }
}

}  // namespace
}  // namespace tend
