// Orders that come in the middle of things, and what was asked for at the beginning, also across
// the death of a keeper.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "run/kept_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class Overheard : public KeptTest {
 protected:
  std::string events() {
    return universe.disk.read(std::string(Kept::kHome) + "/events.jsonl").value_or("");
  }
  int events_saying(const std::string& words) {
    int count = 0;
    const std::string text = events();
    for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) {
      ++count;
    }
    return count;
  }
  int events_for_a_person() { return events_saying("\"needs_person\":true"); }
};
class Orders : public Overheard {};
class KeeperHabits : public Overheard {};

// --- Orders in the middle of things -------------------------------------------------------------

TEST_F(Orders, to_stop_are_followed_while_its_work_is_being_saved) {
  kept.have_a_work_tree(60s);
  behave(hang_once);
  kept.start_keeper();
  universe.run_for(130s);
  stop();
  universe.run_for(3min);
  EXPECT_EQ(starts(), 1);
  expect_stopped();
}

TEST_F(Orders, to_stop_are_followed_while_it_is_being_killed) {
  behave([](SimSelf& self) {
    hang_once(self);
    self.slow_to_end(8s);
  });
  kept.start_keeper();
  ASSERT_TRUE(universe.run_until([&] { return !universe.sent().empty(); }, 5min));
  stop();
  universe.run_for(3min);
  EXPECT_EQ(starts(), 1);
  expect_stopped();
}

TEST_F(Orders, to_stop_are_followed_before_it_comes_back) {
  behave([](SimSelf& self) {
    self.print_after(1s, "hello\n");
    self.exit_after(3s, self.variable("TEND_LIFE") == "1" ? 1 : 2);
  });
  kept.start_keeper();
  // The second time it waits before it is brought back.
  ASSERT_TRUE(universe.run_until([&] { return starts() == 2 && kept.workers().empty(); }, 1min));
  universe.run_for(100ms);
  ASSERT_TRUE(kept.workers().empty());
  stop();
  universe.run_for(1min);
  EXPECT_EQ(starts(), 2);
  expect_stopped();
}

TEST_F(Orders, to_stop_are_followed_while_the_old_life_is_being_ended) {
  universe.behaviours["tool"] = [](SimSelf& self) { self.slow_to_end(5s); };
  behave([](SimSelf& self) {
    print_now_and_then(self);
    self.spawn({.command = {"tool"}, .environment = {}});
  });
  kept.start_keeper();
  universe.run_for(10s);
  kill_worker();
  universe.run_for(2s);
  ASSERT_EQ(starts(), 1);
  stop();
  universe.run_for(1min);
  EXPECT_EQ(starts(), 1);
  EXPECT_FALSE(universe.runs("tool"));
  expect_stopped();
}

TEST_F(Orders, to_stop_are_followed_while_it_is_held) {
  behave([](SimSelf& self) { self.exit_after(2s, 1); });
  kept.start_keeper();
  universe.run_for(5min);
  ASSERT_EQ(kept.heartbeat().verdict, Verdict::looping);
  stop();
  universe.run_for(1s);
  expect_stopped();
}

TEST_F(Orders, to_stop_are_followed_while_it_is_paused) {
  kept.start_keeper();
  universe.run_for(10s);
  pause();
  universe.run_for(10s);
  stop();
  universe.run_for(30s);
  expect_stopped();
}

TEST_F(Orders, in_a_hurry_overtake_the_first) {
  kept.have_a_work_tree(60s);
  behave([](SimSelf& self) {
    print_now_and_then(self);
    self.ignore(Kill::interrupt);
    self.ignore(Kill::terminate);
  });
  kept.start_keeper();
  universe.run_for(10s);
  stop();
  universe.run_for(5s);
  EXPECT_TRUE(universe.runs("worker"));
  stop(true);
  universe.run_for(2s);
  expect_stopped();
}

TEST_F(Orders, in_a_hurry_are_heard_while_the_rest_is_being_ended) {
  universe.behaviours["tool"] = [](SimSelf& self) { self.ignore(Kill::terminate); };
  behave([](SimSelf& self) {
    print_now_and_then(self);
    self.spawn({.command = {"tool"}, .environment = {}});
    self.exit_after(10s, 0);
  });
  kept.start_keeper();
  universe.run_for(12s);
  EXPECT_TRUE(universe.runs("tool"));
  stop(true);
  universe.run_for(1s);
  EXPECT_FALSE(universe.runs("tool"));
  EXPECT_TRUE(kept.over());
}

TEST_F(Orders, to_pause_one_that_is_dead_put_off_its_return) {
  kept.start_keeper();
  universe.run_for(10s);
  pause();
  universe.run_for(10s);
  kill_worker();
  universe.run_for(10min);
  EXPECT_EQ(starts(), 1);
  EXPECT_EQ(kept.heartbeat().status, Status::paused);
  unpause();
  universe.run_for(1min);
  expect_working(2);
  EXPECT_EQ(universe.facts(kept.workers().front())->state, RunState::running);
}

TEST_F(Orders, to_pause_are_followed_before_it_comes_back) {
  behave([](SimSelf& self) {
    self.print_after(1s, "hello\n");
    if (self.variable("TEND_LIFE") == "1") self.exit_after(3s, 1);
    if (self.variable("TEND_LIFE") == "2") self.exit_after(3s, 2);
    print_now_and_then(self);
  });
  kept.start_keeper();
  ASSERT_TRUE(universe.run_until([&] { return starts() == 2 && kept.workers().empty(); }, 1min));
  universe.run_for(100ms);
  pause();
  const auto calls = universe.calls(kept.keeper);
  universe.run_for(10min);
  EXPECT_EQ(starts(), 2);
  EXPECT_EQ(kept.heartbeat().status, Status::paused);
  EXPECT_LT(universe.calls(kept.keeper) - calls, 500U) << "it runs in circles";
  unpause();
  universe.run_for(10s);
  expect_working(3);
}

TEST_F(Orders, to_go_on_are_followed_by_the_next_keeper) {
  kept.start_keeper();
  universe.run_for(10s);
  pause();
  universe.run_for(10s);
  universe.kill(kept.keeper);
  unpause();
  kept.start_keeper();
  universe.run_for(10s);
  EXPECT_EQ(universe.facts(kept.workers().front())->state, RunState::running);
  universe.run_for(3min);
  expect_working(1);
}

TEST_F(Orders, to_pause_are_followed_when_they_can_be) {
  kept.start_keeper();
  universe.run_for(10s);
  universe.looking_fails = "Permission denied";
  pause();
  universe.run_for(10s);
  EXPECT_EQ(kept.heartbeat().status, Status::running) << "it was not paused";
  universe.looking_fails.clear();
  universe.run_for(40s);
  EXPECT_EQ(kept.heartbeat().status, Status::paused);
  EXPECT_EQ(universe.facts(kept.workers().front())->state, RunState::stopped);
}

TEST_F(Orders, to_go_on_begin_the_next_life_of_one_that_is_held) {
  bool cured = false;
  behave([&](SimSelf& self) { cured ? print_now_and_then(self) : self.exit_after(2s, 1); });
  kept.start_keeper();
  universe.run_for(5min);
  ASSERT_EQ(kept.heartbeat().verdict, Verdict::looping);
  const std::uint32_t life = kept.heartbeat().life;
  const std::uint32_t spent = kept.heartbeat().resumes_spent;
  unpause();
  universe.run_for(1min);
  EXPECT_EQ(kept.heartbeat().life, life + 1);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::looping) << "it ended the same way again";
  universe.kill(kept.keeper);
  kept.start_keeper();
  universe.run_for(5min);
  EXPECT_EQ(kept.heartbeat().life, life + 1) << "one order is one life, for every keeper";
  cured = true;
  unpause();
  universe.run_for(3min);
  EXPECT_EQ(kept.heartbeat().resumes_spent, spent);
  expect_working(life + 2);
}

TEST_F(Orders, to_go_on_reach_one_that_is_held_by_the_next_keeper) {
  bool cured = false;
  behave([&](SimSelf& self) { cured ? print_now_and_then(self) : self.exit_after(2s, 1); });
  kept.start_keeper();
  universe.run_for(5min);
  ASSERT_EQ(kept.heartbeat().verdict, Verdict::looping);
  const std::uint32_t life = kept.heartbeat().life;
  universe.kill(kept.keeper);
  cured = true;
  kept.say({.want = Want::run, .by = "tend unpause", .at = calendar_seconds(universe.wall())});
  kept.start_keeper();
  universe.run_for(1min);
  expect_working(life + 1);
}

TEST_F(Orders, to_go_on_save_and_end_a_held_one_that_still_runs) {
  kept.have_a_work_tree(1s);
  bool cured = false;
  behave([&](SimSelf& self) { cured ? print_now_and_then(self) : hang(self); });
  kept.start_keeper();
  ASSERT_TRUE(universe.run_until(
      [&] { return kept.heartbeat().verdict == Verdict::looping && !kept.workers().empty(); }, 1h));
  const std::uint32_t life = kept.heartbeat().life;
  universe.disk.write("/home/user/work/a", "2");
  cured = true;
  unpause();
  universe.run_for(1min);
  expect_working(life + 1);
  EXPECT_EQ(kept.count("note", "ended for its next life: ended by SIGINT"), 1);
  const auto& refs = universe.repositories["/home/user/work"].refs;
  EXPECT_TRUE(
      std::ranges::any_of(refs, [](const auto& ref) { return ref.second.files.at("a") == "2"; }));
}

TEST_F(Orders, to_go_on_end_nobody_who_woke_up_while_its_keeper_did_not_run) {
  kept.have_a_work_tree(1s);
  std::optional<Instant> wakes;
  behave([&](SimSelf& self) {
    hang(self);
    self.every(7s, [&, n = 0](SimSelf& me) mutable {
      if (wakes && universe.now() >= *wakes) me.print("line " + std::to_string(++n) + "\n");
    });
  });
  kept.start_keeper();
  ASSERT_TRUE(universe.run_until(
      [&] { return kept.heartbeat().verdict == Verdict::looping && !kept.workers().empty(); }, 1h));
  const std::uint32_t life = kept.heartbeat().life;
  universe.signal(kept.keeper, Kill::stop);
  wakes = universe.now() + 100s;
  universe.run_for(5min);
  unpause();
  universe.signal(kept.keeper, Kill::cont);
  universe.run_for(10min);
  expect_working(life);
}

TEST_F(Orders, to_go_on_end_nobody_who_wakes_up_while_its_work_is_saved) {
  kept.have_a_work_tree(1min);
  bool awake = false;
  behave([&](SimSelf& self) {
    hang(self);
    self.every(7s, [&, n = 0](SimSelf& me) mutable {
      if (awake) me.print("line " + std::to_string(++n) + "\n");
    });
  });
  kept.start_keeper();
  ASSERT_TRUE(universe.run_until(
      [&] { return kept.heartbeat().verdict == Verdict::looping && !kept.workers().empty(); }, 1h));
  const std::uint32_t life = kept.heartbeat().life;
  unpause();
  universe.run_for(30s);
  awake = true;
  universe.run_for(5min);
  expect_working(life);
}

TEST_F(Orders, to_go_on_only_end_the_pause_of_one_that_is_paused) {
  behave([](SimSelf& self) { self.exit_after(2s, 1); });
  kept.start_keeper();
  universe.run_for(5min);
  ASSERT_EQ(kept.heartbeat().verdict, Verdict::looping);
  const std::uint32_t life = kept.heartbeat().life;
  pause();
  universe.run_for(10s);
  ASSERT_EQ(kept.heartbeat().status, Status::paused);
  unpause();
  universe.run_for(1min);
  EXPECT_EQ(kept.heartbeat().status, Status::running);
  EXPECT_EQ(kept.heartbeat().life, life);
  kept.check_replay();
}

// --- What was asked for -------------------------------------------------------------------------

TEST_F(Orders, for_one_that_hangs_or_fails_are_followed) {
  struct Case {
    OnStall on_stall;
    RestartPolicy restart;
    bool hangs;
    std::uint32_t lives;
    bool over;
  };
  using enum OnStall;
  using enum RestartPolicy;
  const std::vector<Case> cases{
      {resume, never, true, 2, false},       {resume, on_failure, true, 2, false},
      {kill, never, true, 1, true},          {kill, on_failure, true, 1, true},
      {kill, always, true, 1, true},         {report, never, true, 1, false},
      {report, on_failure, true, 1, false},  {resume, never, false, 1, true},
      {resume, on_failure, false, 2, false}, {kill, on_failure, false, 2, false},
      {report, always, false, 2, false},     {report, never, false, 1, true},
  };
  for (const bool with_deaths : {false, true}) {
    for (const Case& one : cases) {
      Kept agent;
      agent.be_patient_as_with_an_agent();
      agent.policy.limits.model = 60s;
      agent.agent.on_stall = one.on_stall;
      agent.agent.restart = one.restart;
      agent.universe.behaviours["worker"] = [&one](SimSelf& self) {
        hang_once(self);
        if (!one.hangs && self.variable("TEND_LIFE") == "1") self.exit_after(5s, 3);
      };
      agent.start_keeper();
      for (int i = 0; i < 40; ++i) {
        agent.universe.run_for(30s);
        if (!with_deaths) continue;
        agent.universe.kill(agent.keeper);
        agent.start_keeper();
      }
      const auto what = std::string(kOnStallWords[static_cast<std::size_t>(one.on_stall)]) + " " +
                        std::string(kRestartWords[static_cast<std::size_t>(one.restart)]) +
                        (one.hangs ? " hangs" : " fails") + (with_deaths ? ", deaths" : "");
      EXPECT_EQ(agent.heartbeat().life, one.lives) << what;
      EXPECT_EQ(agent.over(), one.over) << what;
      agent.check_replay();
    }
  }
}

TEST_F(Orders, for_the_longest_life_outlive_a_keeper) {
  kept.agent.max_life = 5min;
  kept.start_keeper();
  universe.run_for(4min);
  universe.kill(kept.keeper);
  kept.start_keeper();
  universe.run_for(50s);
  EXPECT_EQ(kept.workers().size(), 1U);
  universe.run_for(60s);
  EXPECT_TRUE(kept.workers().empty());
  EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::stopped);
  EXPECT_EQ(kept.heartbeat().ended_by, "--max-life");
}

TEST_F(Orders, to_restart_always_do_not_spin) {
  kept.agent.restart = RestartPolicy::always;
  behave([](SimSelf& self) { self.exit(0); });
  kept.start_keeper();
  universe.run_for(10min);
  EXPECT_GE(starts(), 5);
  EXPECT_LE(starts(), 25);
  EXPECT_FALSE(kept.over());
  stop();
  universe.run_for(10s);
  expect_stopped();
}

TEST_F(Orders, to_the_keeper_itself_outlive_it) {
  kept.agent.restart = RestartPolicy::always;
  behave([](SimSelf& self) {
    print_now_and_then(self);
    self.slow_to_end(3s);
  });
  kept.start_keeper();
  universe.run_for(10s);
  universe.order(kept.keeper, Order::terminate);
  universe.run_for(1s);
  universe.kill(kept.keeper);
  kept.start_keeper();
  universe.run_for(1min);
  EXPECT_TRUE(kept.workers().empty());
  EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::stopped);
  EXPECT_EQ(kept.heartbeat().ended_by, "SIGTERM to its keeper");
}

TEST_F(KeeperHabits, lets_no_old_life_speak_for_the_new_one) {
  universe.behaviours["tool"] = [](SimSelf& self) {
    self.on(Kill::terminate, [](SimSelf& me) {
      me.print("a goodbye of the old life\n");
      me.exit_after(1s, 0);
    });
  };
  behave([](SimSelf& self) {
    if (self.variable("TEND_LIFE") != "1") return;
    print_now_and_then(self);
    self.spawn({.command = {"tool"}, .environment = {}});
  });
  kept.start_keeper();
  universe.run_for(10s);
  kill_worker();
  universe.run_for(60s);
  EXPECT_EQ(kept.heartbeat().life, 2U);
  EXPECT_EQ(word(kept.heartbeat().verdict), "starting");
}

TEST_F(KeeperHabits, takes_no_file_for_new_that_an_earlier_keeper_saw_for_ever) {
  kept.have_a_work_tree(10ms);
  behave(hang);
  kept.start_keeper();
  universe.run_for(50s);
  universe.disk.write("/home/user/work/b", "2");
  universe.run_for(60s);  // the first limit was put off by that
  ASSERT_EQ(word(kept.heartbeat().verdict), "working");
  universe.kill(kept.keeper);
  kept.start_keeper();
  universe.run_for(15min);
  EXPECT_GE(kept.heartbeat().life, 2U);
}

TEST_F(KeeperHabits, tells_a_person_once_where_it_can) {
  kept.agent.notify = {"tell-me"};
  universe.answers["tell-me"] = {.takes = 1s};
  behave([](SimSelf& self) { self.exit_after(2s, 1); });
  kept.start_keeper();
  universe.run_for(5min);
  ASSERT_EQ(kept.heartbeat().verdict, Verdict::looping);
  EXPECT_EQ(universe.ran().size(), 1U);
  EXPECT_TRUE(std::ranges::any_of(kept.journal("did"),
                                  [](const std::string& did) { return did == "escalate"; }));
  universe.kill(kept.keeper);
  kept.start_keeper();
  universe.run_for(5min);
  EXPECT_EQ(universe.ran().size(), 1U);
}

TEST_F(KeeperHabits, tells_a_person_of_a_bad_end_that_nobody_ordered) {
  kept.agent.notify = {"tell-me"};
  kept.agent.restart = RestartPolicy::never;
  universe.answers["tell-me"] = {.takes = 1s};
  behave([](SimSelf& self) { self.exit_after(2s, 4); });
  kept.start_keeper();
  universe.run_for(1min);
  EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::failed);
  ASSERT_EQ(universe.ran().size(), 1U);
  const auto incident = nlohmann::json::parse(universe.ran().front().input);
  EXPECT_EQ(incident["why"], "over: failed, exit 4");
  EXPECT_EQ(incident["verdict"], "dead");
  EXPECT_EQ(incident["action"], "escalate");
  EXPECT_EQ(events_for_a_person(), 1);
  EXPECT_FALSE(universe.runs(kept.keeper)) << "it stays only until that is told";
  EXPECT_EQ(kept.heartbeat().resumes_spent, 0U) << "what was not done is not spent";
}

TEST_F(KeeperHabits, tells_a_person_once_of_a_program_that_cannot_start) {
  kept.agent.notify = {"tell-me"};
  kept.agent.command = {"no-such-program"};
  universe.answers["tell-me"] = {.takes = 1s};
  kept.start_keeper();
  universe.run_for(1min);
  EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::failed);
  ASSERT_EQ(universe.ran().size(), 1U);
  EXPECT_TRUE(universe.ran().front().input.contains("could not be started: "))
      << universe.ran().front().input;
  EXPECT_EQ(events_for_a_person(), 1);
  EXPECT_FALSE(universe.runs(kept.keeper));
}

TEST_F(KeeperHabits, tells_nobody_of_an_end_that_was_ordered) {
  kept.agent.notify = {"tell-me"};
  kept.start_keeper();
  universe.run_for(10s);
  stop();
  universe.run_for(1min);
  expect_stopped();
  EXPECT_TRUE(universe.ran().empty());
  EXPECT_EQ(events_for_a_person(), 0);
}

TEST_F(KeeperHabits, notes_that_it_took_the_place_of_another) {
  const std::int64_t first = kept.start_keeper();
  universe.run_for(10s);
  EXPECT_FALSE(events().contains("a new keeper"));
  universe.kill(first);
  kept.start_keeper();
  universe.run_for(10s);
  EXPECT_TRUE(events().contains("a new keeper goes on in the place of process " +
                                std::to_string(first) + ", which is gone"))
      << events();
}

// --- Idle ---------------------------------------------------------------------------------------

TEST_F(KeeperHabits, wakes_up_once_a_beat) {
  for (const char* const policy : {"plain", "agent"}) {
    Kept one;
    one.be_patient_as_with_an_agent();
    one.policy = *built_in_policy(policy);
    one.policy.limits.model = 24h;
    one.universe.behaviours["worker"] = hang;
    one.start_keeper();
    one.universe.run_for(2min);
    const auto before = one.universe.calls(one.keeper);
    one.universe.run_for(50min);
    const auto calls = one.universe.calls(one.keeper) - before;
    // A wake-up: the timer, the lock and its time, the intent, the process, four files of the
    // agent's, the beat.
    EXPECT_LE(calls, 100U * 16U) << policy;
  }
}

TEST_F(Orders, to_stop_hold_also_when_the_machine_goes_down_right_after) {
  behave([](SimSelf& self) { self.slow_to_end(3s); });
  kept.start_keeper();
  universe.run_for(10s);
  stop();
  universe.order(kept.keeper, Order::terminate);
  universe.run_for(1min);
  expect_stopped();
}

TEST_F(Orders, to_stop_hold_also_when_the_machine_is_going_down_already) {
  behave([](SimSelf& self) { self.slow_to_end(3s); });
  kept.start_keeper();
  universe.run_for(10s);
  universe.order(kept.keeper, Order::terminate);
  universe.run_for(1s);
  stop();
  universe.run_for(1min);
  expect_stopped();
}

TEST_F(Orders, to_stop_that_could_not_be_followed_are_followed_later) {
  kept.start_keeper();
  universe.run_for(10s);
  universe.looking_fails = "Permission denied";
  stop();
  universe.run_for(10min);
  EXPECT_EQ(kept.workers().size(), 1U) << "who it is cannot be known";
  EXPECT_EQ(events_saying("not all could be stopped"), 1) << "and tried every ten seconds";
  universe.looking_fails.clear();
  universe.run_for(1min);
  expect_stopped();
}

TEST_F(Orders, to_pause_that_a_disk_has_lost_hold_for_nobody) {
  kept.start_keeper();
  universe.run_for(10s);
  kept.say({.want = Want::pause, .by = "tend pause", .at = 1});
  universe.run_for(1min);
  universe.kill(kept.keeper);
  universe.disk.write(Kept::path("intent.json"), "");
  universe.reboot();
  kept.start_keeper();
  universe.run_for(5min);
  expect_working(2);
}

TEST_F(Orders, to_pause_stop_an_end_that_is_under_way) {
  behave([](SimSelf& self) {
    self.ignore(Kill::interrupt);
    self.ignore(Kill::terminate);
    hang(self);
  });
  kept.start_keeper();
  const auto asked_to_go = [&] {
    return std::ranges::any_of(universe.sent(),
                               [](const SimSent& sent) { return sent.kill == Kill::interrupt; });
  };
  ASSERT_TRUE(universe.run_until(asked_to_go, 10min));
  kept.say({.want = Want::pause, .by = "tend pause", .at = 1});
  universe.run_for(20min);
  EXPECT_EQ(kept.workers().size(), 1U);
  EXPECT_EQ(kept.heartbeat().life, 1U);
  EXPECT_EQ(kept.heartbeat().status, Status::paused);
}

TEST_F(Orders, to_pause_leave_the_end_of_what_a_dead_life_left_alone_and_its_resume_too) {
  behave([](SimSelf& self) {
    const bool first = self.variable("TEND_LIFE") == "1";
    if (!first) return print_now_and_then(self);
    self.spawn({.command = {"left"}, .environment = {}});
    print_now_and_then(self);
  });
  universe.behaviours["left"] = [](SimSelf& self) {
    self.ignore(Kill::interrupt);
    self.ignore(Kill::terminate);
  };
  kept.start_keeper();
  universe.run_for(10s);
  universe.signal(kept.workers().front(), Kill::kill);
  universe.run_for(1s);  // what it left is being ended
  ASSERT_TRUE(universe.runs("left"));
  kept.say({.want = Want::pause, .by = "tend pause", .at = 1});
  universe.run_for(2min);
  EXPECT_FALSE(universe.runs("left"));
  kept.say({.want = Want::run, .by = "tend unpause", .at = 2});
  universe.run_for(2min);
  expect_working(2);
}

}  // namespace
}  // namespace tend
