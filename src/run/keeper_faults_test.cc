// The keeper when the machine around it fails, when people change their minds in the middle of
// things, and when others are in the same trouble.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "run/kept_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

void print_now_and_then(SimSelf& self) {
  self.every(7s, [n = 0](SimSelf& me) mutable { me.print("line " + std::to_string(++n) + "\n"); });
}

void hang(SimSelf& self) { self.print_after(1s, "hello\n"); }

/// The first life hangs, the others work.
void hang_once(SimSelf& self) {
  self.variable("TEND_LIFE") == "1" ? hang(self) : print_now_and_then(self);
}

class Faults : public testing::Test {
 protected:
  Faults() {
    kept.be_patient_as_with_an_agent();
    kept.policy.limits.model = 100s;
    kept.policy.limits.confirm = 20s;
    kept.universe.behaviours["worker"] = print_now_and_then;
  }

  void behave(SimBehaviour behaviour) { kept.universe.behaviours["worker"] = std::move(behaviour); }
  void have_a_work_tree(Duration saving_takes) {
    kept.agent.worktree = "/home/user/work";
    universe.disk.write("/home/user/work/a", "1");
    universe.repositories["/home/user/work"] = {};
    universe.version_control_takes = saving_takes;
  }
  void stop(bool now = false) {
    kept.say({.want = Want::stop, .now = now, .by = "tend stop", .at = ++orders_});
  }
  void pause() { kept.say({.want = Want::pause, .by = "tend pause", .at = ++orders_}); }
  void unpause() { kept.say({.want = Want::run, .by = "tend unpause", .at = ++orders_}); }
  void kill_worker() { universe.signal(kept.workers().front(), Kill::kill); }
  [[nodiscard]] int starts() const {
    return static_cast<int>(std::ranges::count_if(universe.log(), [](const std::string& line) {
      return line.contains(" exec ") && line.contains(" worker");
    }));
  }
  void expect_working(std::uint32_t life) {
    EXPECT_EQ(kept.workers().size(), 1U);
    EXPECT_EQ(kept.heartbeat().life, life);
    EXPECT_EQ(word(kept.heartbeat().verdict), "working");
    kept.check_replay();
  }
  void expect_stopped() {
    EXPECT_TRUE(kept.workers().empty());
    EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::stopped);
    EXPECT_EQ(kept.heartbeat().ended_by, "tend stop");
    EXPECT_FALSE(universe.runs(kept.keeper));
    kept.check_replay();
  }

  Kept kept;
  SimUniverse& universe = kept.universe;
  double orders_ = 0;
};

// --- The disk -----------------------------------------------------------------------------------

TEST_F(Faults, of_a_full_disk_at_any_moment_of_a_death_lose_nothing) {
  for (Duration at = 0s; at < 15s; at += 250ms) {
    Kept one;
    one.be_patient_as_with_an_agent();
    one.universe.behaviours["worker"] = print_now_and_then;
    one.universe.after(10s, [&] { one.universe.signal(one.workers().front(), Kill::kill); });
    one.start_keeper();
    one.universe.run_for(100ms);
    one.universe.after(at, [&] { one.universe.disk.room = 100; });
    one.universe.after(at + 90s, [&] { one.universe.disk.room.reset(); });
    one.universe.run_for(5min);
    ASSERT_EQ(one.workers().size(), 1U) << at.count();
    EXPECT_EQ(one.heartbeat().life, 2U) << at.count();
    EXPECT_EQ(one.heartbeat().verdict, Verdict::working) << at.count();
    one.check_replay();
  }
}

TEST_F(Faults, of_a_full_disk_leave_a_hanging_agent_alone_until_there_is_room) {
  behave(hang_once);
  kept.start_keeper();
  universe.run_for(50s);
  universe.disk.room = 0;
  universe.run_for(30min);
  EXPECT_EQ(starts(), 1);
  EXPECT_TRUE(universe.runs("worker"));
  universe.disk.room.reset();
  universe.run_for(10min);
  expect_working(2);
}

TEST_F(Faults, of_a_full_disk_let_a_stop_through) {
  have_a_work_tree(1s);
  kept.start_keeper();
  universe.run_for(10s);
  stop();
  universe.disk.room = 0;
  universe.run_for(2min);
  EXPECT_TRUE(kept.workers().empty());
  universe.disk.room.reset();
  universe.run_for(1min);
  expect_stopped();
}

TEST_F(Faults, of_a_broken_disk_blame_nobody) {
  kept.start_keeper();
  universe.run_for(10s);
  universe.disk.broken = "Input/output error";
  universe.run_for(20min);
  EXPECT_EQ(kept.workers().size(), 1U);
  universe.disk.broken.clear();
  universe.run_for(5min);
  expect_working(1);
}

TEST_F(Faults, of_reading_the_stream_are_no_silence) {
  kept.start_keeper();
  universe.run_for(20s);
  universe.kill(kept.keeper);
  universe.disk.make_unreadable(kept.path("stream.jsonl"));
  kept.start_keeper();
  universe.run_for(1h);
  EXPECT_EQ(kept.count("action", "kill"), 0);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::unknown);
  EXPECT_LT(kept.journal("note").size(), 5U) << "said again and again";
  universe.disk.find(kept.path("stream.jsonl"))->unreadable = false;
  universe.run_for(3min);
  expect_working(1);
}

TEST_F(Faults, of_a_power_cut_begin_anew) {
  kept.start_keeper();
  universe.run_for(60s);
  universe.reboot({.lose_unsynced = true});
  kept.start_keeper();
  universe.run_for(3min);
  EXPECT_EQ(kept.problem, "");
  EXPECT_EQ(kept.workers().size(), 1U);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::working);
}

TEST_F(Faults, of_an_unusable_journal_begin_a_new_one_and_keep_the_agent) {
  kept.start_keeper();
  universe.run_for(60s);
  kill_worker();
  universe.run_for(10s);
  universe.kill(kept.keeper);
  universe.disk.write(kept.path("journal.jsonl"), "no journal\n");
  kept.start_keeper();
  universe.run_for(60s);
  expect_working(2);
  EXPECT_EQ(kept.past()->lives, 2U);
}

TEST_F(Faults, of_a_torn_write_do_not_lose_what_was_decided) {
  kept.start_keeper();
  universe.run_for(10s);
  kill_worker();
  universe.disk.room = 120;  // the death fits, the decision does not
  universe.run_for(1ms);
  universe.kill(kept.keeper);
  universe.disk.room.reset();
  kept.start_keeper();
  universe.run_for(3min);
  EXPECT_EQ(kept.workers().size(), 1U);
  EXPECT_EQ(kept.heartbeat().life, 2U);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::working);
}

// --- The lock -----------------------------------------------------------------------------------

TEST_F(Faults, of_the_lock_file_are_mended_if_nobody_else_came) {
  kept.start_keeper();
  universe.run_for(10s);
  universe.disk.remove(kept.path(".lock"));
  universe.run_for(60s);
  EXPECT_TRUE(universe.runs(kept.keeper));
  EXPECT_TRUE(universe.disk.is_locked(kept.path(".lock")));
  universe.kill(kept.keeper);
  kept.start_keeper();
  universe.run_for(60s);
  expect_working(1);
}

TEST_F(Faults, of_the_lock_file_leave_one_keeper) {
  behave(hang_once);
  const auto first = kept.start_keeper();
  universe.run_for(10s);
  universe.disk.remove(kept.path(".lock"));
  const auto second = kept.start_keeper();
  universe.run_for(60s);
  EXPECT_FALSE(universe.runs(first));
  EXPECT_TRUE(universe.runs(second));
  universe.run_for(10min);
  EXPECT_EQ(starts(), 2);
  expect_working(2);
}

TEST_F(Faults, of_the_record_do_not_start_an_agent_beside_itself) {
  kept.start_keeper();
  universe.run_for(10s);
  universe.kill(kept.keeper);
  universe.disk.write(kept.path(".lock"), "");
  kept.start_keeper();
  universe.run_for(60s);
  EXPECT_EQ(starts(), 1);
  expect_working(1);
}

TEST_F(Faults, of_two_keepers_at_once_start_one_agent) {
  for (std::uint64_t n = 1;; ++n) {
    Kept one;
    one.be_patient_as_with_an_agent();
    one.universe.behaviours["worker"] = [&one](SimSelf& self) {
      EXPECT_EQ(one.workers().size(), 1U);
      print_now_and_then(self);
    };
    const auto first = one.start_keeper();
    one.universe.kill_at_call(first, n);
    one.start_keeper();
    one.universe.run_for(3s);
    if (one.universe.runs(first)) break;
    one.start_keeper();
    one.start_keeper();
    one.universe.run_for(60s);
    ASSERT_EQ(one.workers().size(), 1U) << n;
    EXPECT_EQ(one.heartbeat().life, 1U) << n;
    EXPECT_EQ(one.universe.pids("keeper").size(), 1U) << n;
  }
}

// --- Other processes ----------------------------------------------------------------------------

TEST_F(Faults, of_starting_are_tried_again_for_one_that_has_lived) {
  kept.start_keeper();
  universe.run_for(10s);
  universe.spawning_fails = "Resource temporarily unavailable";
  kill_worker();
  universe.run_for(5min);
  EXPECT_FALSE(kept.over());
  EXPECT_EQ(starts(), 1);
  universe.spawning_fails.clear();
  universe.run_for(2min);
  expect_working(2);
}

TEST_F(Faults, of_looking_are_no_deaths) {
  kept.start_keeper();
  universe.run_for(10s);
  universe.looking_fails = "Permission denied";
  universe.run_for(10min);
  EXPECT_EQ(starts(), 1);
  EXPECT_TRUE(universe.runs("worker"));
  universe.looking_fails.clear();
  universe.run_for(1min);
  expect_working(1);
}

TEST_F(Faults, of_looking_put_off_a_new_life) {
  universe.behaviours["tool"] = [](SimSelf& self) { self.ignore(Kill::terminate); };
  behave([](SimSelf& self) {
    print_now_and_then(self);
    if (self.variable("TEND_LIFE") == "1") self.spawn({.command = {"tool"}, .environment = {}});
  });
  kept.start_keeper();
  universe.run_for(10s);
  kill_worker();
  universe.run_for(10ms);
  universe.looking_fails = "Permission denied";
  universe.run_for(5min);
  EXPECT_EQ(starts(), 1);
  universe.looking_fails.clear();
  universe.run_for(5min);
  EXPECT_FALSE(universe.runs("tool"));
  expect_working(2);
}

TEST_F(Faults, of_hints_make_the_keeper_slower_and_not_wrong) {
  for (const SimHints hints : {SimHints::lossy, SimHints::none}) {
    Kept one;
    one.be_patient_as_with_an_agent();
    one.universe.hints = hints;
    one.universe.behaviours["worker"] = hang_once;
    one.start_keeper();
    one.universe.run_for(700s);
    EXPECT_EQ(one.heartbeat().life, 1U);
    one.universe.run_for(300s);
    EXPECT_EQ(one.heartbeat().life, 2U);
    EXPECT_EQ(one.heartbeat().verdict, Verdict::working);
    one.say({.want = Want::stop, .by = "tend stop", .at = 1});
    one.universe.run_for(60s);
    EXPECT_TRUE(one.over());
    one.check_replay();
  }
}

TEST_F(Faults, of_junk_in_what_was_said_are_counted_and_not_repeated) {
  behave([](SimSelf& self) {
    print_now_and_then(self);
    self.every(100ms, [](SimSelf& me) {
      std::string junk;
      for (int i = 0; i < 50; ++i) junk += "{\"is\":\"spawn\"}\nnonsense\n\x01\xff{\n";
      me.append(Kept::path("signals.jsonl"), junk);
    });
  });
  kept.start_keeper();
  universe.run_for(5min);
  EXPECT_LT(kept.journal("note").size(), 10U);
  expect_working(1);
}

TEST_F(Faults, of_a_flood_of_signals_fill_one_journal_after_the_other) {
  behave([](SimSelf& self) {
    self.every(1s, [n = 0](SimSelf& me) mutable {
      std::string lines;
      for (int i = 0; i < 3000; ++i) {
        lines += R"({"is":"tool-open","tool":"Bash","id":")" + std::to_string(++n) +
                 std::string(100, 'x') + "\"}\n";
      }
      me.append(Kept::path("signals.jsonl"), lines);
    });
    self.exit_after(25s, 3);
  });
  kept.start_keeper();
  universe.run_for(20s);
  const std::string text = kept.text_of("journal.jsonl");
  EXPECT_TRUE(text.substr(0, text.find('\n')).contains("\"judge\":{")) << "was never replaced";
  EXPECT_LT(text.size(), 2 * Journal::kFull);
  kept.check_replay();
  universe.kill(kept.keeper);
  kept.start_keeper();
  universe.run_for(2min);
  kept.check_replay();
}

TEST_F(Faults, of_a_flood_of_noise_do_not_wash_away_what_is_still_to_be_done) {
  have_a_work_tree(60s);
  behave([](SimSelf& self) {
    hang_once(self);
    if (self.variable("TEND_LIFE") != "1") return;
    self.after(125s, [](SimSelf& me) {  // while its work is being saved
      std::string lines;
      for (int i = 0; i < 12'000; ++i) {
        lines += R"({"is":"tool-close","same":9,"id":")" + std::string(500, 'x') + "\"}\n";
      }
      me.append(Kept::path("signals.jsonl"), lines);
    });
  });
  kept.start_keeper();
  universe.run_for(140s);
  EXPECT_TRUE(kept.text_of("journal.jsonl").contains("\"carried\":true")) << "was not replaced";
  universe.kill(kept.keeper);
  kept.start_keeper();
  universe.run_for(5min);
  expect_working(2);
  EXPECT_EQ(starts(), 2);
}

// --- Clocks -------------------------------------------------------------------------------------

TEST_F(Faults, of_the_calendar_change_nothing) {
  kept.start_keeper();
  for (const Duration step : {Duration{1h}, Duration{-3h}, Duration{30 * 24h}}) {
    universe.run_for(20s);
    universe.step_wall(step);
    universe.run_for(60s);
    expect_working(1);
    universe.kill(kept.keeper);
    universe.run_for(30min);
    universe.step_wall(-step);
    kept.start_keeper();
    universe.run_for(90s);
    expect_working(1);
  }
  EXPECT_EQ(kept.count("action", "kill"), 0);
}

TEST_F(Faults, of_the_calendar_and_of_the_keeper_together_kill_nobody) {
  behave([](SimSelf& self) {
    hang(self);
    self.after(40min, [](SimSelf& me) { print_now_and_then(me); });
  });
  kept.start_keeper();
  universe.run_for(10s);
  universe.kill(kept.keeper);
  universe.run_for(30min);
  universe.step_wall(-30min);
  kept.start_keeper();
  universe.run_for(30s);
  EXPECT_EQ(kept.count("action", "kill"), 0);
  EXPECT_EQ(kept.heartbeat().verdict, Verdict::unknown);
}

TEST_F(Faults, of_sleep_and_lag_together_are_told_as_they_were_lived) {
  for (int sleep = 1; sleep <= 40; sleep += 3) {
    for (int lag = 0; lag <= 40; lag += 3) {
      Kept one;
      one.be_patient_as_with_an_agent();
      one.policy.limits.model = 50s;
      one.policy.limits.confirm = 10s;
      one.universe.behaviours["worker"] = hang;
      one.start_keeper();
      one.universe.run_for(43s);
      one.universe.pause(one.keeper);
      one.universe.sleep_machine(std::chrono::seconds{sleep});
      one.universe.run_for(std::chrono::seconds{lag});
      one.universe.go_on(one.keeper);
      one.universe.run_for(5min);
      one.check_replay();
      ASSERT_FALSE(testing::Test::HasFailure()) << sleep << " " << lag;
    }
  }
}

// --- Waking up ----------------------------------------------------------------------------------

TEST_F(Faults, of_a_slow_version_control_do_not_kill_one_that_woke_up) {
  have_a_work_tree(60s);
  behave([](SimSelf& self) {
    hang(self);
    self.after(150s, [](SimSelf& me) { print_now_and_then(me); });
  });
  kept.start_keeper();
  universe.run_for(130s);
  ASSERT_EQ(kept.heartbeat().verdict, Verdict::stalled);
  universe.run_for(5min);
  EXPECT_EQ(starts(), 1);
  expect_working(1);
}

TEST_F(Faults, of_the_observer_put_off_a_kill_and_do_not_forget_it) {
  have_a_work_tree(60s);
  behave(hang_once);
  kept.start_keeper();
  universe.run_for(130s);
  ASSERT_EQ(kept.heartbeat().verdict, Verdict::stalled);
  universe.sleep_machine(1h);  // while its work is being saved
  universe.run_for(70s);
  EXPECT_EQ(starts(), 1);
  universe.run_for(5min);
  expect_working(2);
}

TEST_F(Faults, of_the_keeper_do_not_end_one_that_woke_while_its_children_had_ended) {
  // Under `resume` without `kill`: a background task that ended long ago.
  have_a_work_tree(60s);
  behave([](SimSelf& self) {
    self.after(1s, [](SimSelf& me) {
      me.append(Kept::path("signals.jsonl"),
                "{\"is\":\"turn-start\"}\n"
                "{\"is\":\"tool-open\",\"id\":\"1\",\"tool\":\"Bash\",\"background\":true}\n"
                "{\"is\":\"turn-end\",\"background\":1}\n");
    });
    self.after(5s, [](SimSelf& me) {
      me.append(Kept::path("signals.jsonl"), "{\"is\":\"tool-close\",\"id\":\"1\"}\n");
    });
    self.after(120s, [](SimSelf& me) { print_now_and_then(me); });
  });
  kept.start_keeper();
  universe.run_for(10min);
  EXPECT_EQ(starts(), 1);
  EXPECT_GE(kept.count("action", "resume"), 1);
  expect_working(1);
}

// --- Orders in the middle of things -------------------------------------------------------------

TEST_F(Faults, of_people_who_stop_it_while_its_work_is_being_saved) {
  have_a_work_tree(60s);
  behave(hang_once);
  kept.start_keeper();
  universe.run_for(130s);
  stop();
  universe.run_for(3min);
  EXPECT_EQ(starts(), 1);
  expect_stopped();
}

TEST_F(Faults, of_people_who_stop_it_while_it_is_being_killed) {
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

TEST_F(Faults, of_people_who_stop_it_before_it_comes_back) {
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

TEST_F(Faults, of_people_who_stop_it_while_the_old_life_is_being_ended) {
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

TEST_F(Faults, of_people_who_stop_it_while_it_is_held) {
  behave([](SimSelf& self) { self.exit_after(2s, 1); });
  kept.start_keeper();
  universe.run_for(5min);
  ASSERT_EQ(kept.heartbeat().verdict, Verdict::looping);
  stop();
  universe.run_for(1s);
  expect_stopped();
}

TEST_F(Faults, of_people_who_stop_it_while_it_is_paused) {
  kept.start_keeper();
  universe.run_for(10s);
  pause();
  universe.run_for(10s);
  stop();
  universe.run_for(30s);
  expect_stopped();
}

TEST_F(Faults, of_people_in_a_hurry_are_heard) {
  have_a_work_tree(60s);
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

TEST_F(Faults, of_people_in_a_hurry_are_heard_while_the_rest_is_being_ended) {
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

TEST_F(Faults, of_people_who_pause_one_that_is_dead_bring_it_back_afterwards) {
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

TEST_F(Faults, of_people_who_pause_it_before_it_comes_back) {
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

TEST_F(Faults, of_a_keeper_do_not_leave_a_paused_agent_stopped_for_ever) {
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

TEST_F(Faults, of_the_processes_list_let_a_pause_come_later) {
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

// --- What was asked for -------------------------------------------------------------------------

TEST_F(Faults, of_one_that_hangs_and_fails_end_as_was_asked_for) {
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

TEST_F(Faults, of_a_keeper_do_not_make_a_life_longer_than_it_may_be) {
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

TEST_F(Faults, of_one_that_always_ends_at_once_do_not_spin) {
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

TEST_F(Faults, of_its_own_end_by_order_are_written_down) {
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

TEST_F(Faults, of_an_old_life_do_not_speak_for_the_new_one) {
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

TEST_F(Faults, of_a_keeper_are_no_changed_files_of_the_agent) {
  have_a_work_tree(10ms);
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

TEST_F(Faults, of_telling_are_said_and_nothing_is_told_twice_without_need) {
  kept.agent.notify = {"tell-me"};
  universe.answers["tell-me"] = {.exit = {ExitStatus::How::code, 1}, .takes = 1s};
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

// --- Many ---------------------------------------------------------------------------------------

class Fleet {
 public:
  explicit Fleet(bool direct) {
    policy = *built_in_policy("agent");
    policy.limits.model = 100s;
    policy.direct = direct;
    for (int i = 0; i < 5; ++i) {
      AgentFile agent;
      agent.agent = "worker-" + std::to_string(i);
      agent.session = "s" + std::to_string(i);
      agent.command = {"worker"};
      agent.working_folder = "/home/user";
      agent.policy = "agent";
      agent.restart = RestartPolicy::on_failure;
      universe.disk.write(folder(i) + "/agent.json", format_agent_file(agent));
      universe.start_program("keeper", [this, i, agent](Machine& machine) -> std::shared_ptr<void> {
        auto kept = std::make_shared<Keeper>(
            machine, machine.folders.open(folder(i)).value(),
            machine.folders.open(Kept::kHome).value(),
            KeeperSettings{
                .agent = agent, .policy = policy, .environment = {}, .runtime_folder = ""});
        EXPECT_TRUE(kept->begin());
        return kept;
      });
    }
  }
  static std::string folder(int i) {
    return std::string(Kept::kHome) + "/sessions/s" + std::to_string(i);
  }
  [[nodiscard]] std::string journals() const {
    std::string all;
    for (int i = 0; i < 5; ++i) all += *universe.disk.read(folder(i) + "/journal.jsonl");
    return all;
  }
  [[nodiscard]] std::vector<std::string> verdicts() const {
    std::vector<std::string> all;
    for (int i = 0; i < 5; ++i) {
      const auto says = parse_heartbeat(*universe.disk.read(folder(i) + "/.heartbeat"));
      all.emplace_back(word(says->verdict));
    }
    return all;
  }

  SimUniverse universe;
  Policy policy;
};

TEST(KeeperFleet, silent_together_is_not_killed_and_a_person_is_told) {
  for (const bool direct : {false, true}) {
    Fleet fleet(direct);
    fleet.universe.behaviours["worker"] = hang;
    fleet.universe.run_for(30min);
    EXPECT_EQ(fleet.universe.pids("worker").size(), 5U);
    EXPECT_TRUE(fleet.universe.sent().empty());
    EXPECT_TRUE(fleet.journals().contains("\"action\":\"escalate\""));
  }
}

TEST(KeeperFleet, silent_for_a_while_works_on_unharmed) {
  Fleet fleet(false);
  fleet.universe.behaviours["worker"] = [](SimSelf& self) {
    hang(self);
    self.after(260s, [](SimSelf& me) { print_now_and_then(me); });
  };
  fleet.universe.run_for(20min);
  EXPECT_EQ(fleet.universe.pids("worker").size(), 5U);
  EXPECT_TRUE(fleet.universe.sent().empty());
  EXPECT_EQ(fleet.verdicts(), std::vector<std::string>(5, "working"));
}

TEST(KeeperFleet, of_which_one_hangs_is_cured_of_it) {
  Fleet fleet(false);
  fleet.universe.behaviours["worker"] = [](SimSelf& self) {
    self.variable("TEND_AGENT") == "worker-3" ? hang_once(self) : print_now_and_then(self);
  };
  fleet.universe.run_for(10min);
  EXPECT_EQ(fleet.universe.pids("worker").size(), 5U);
  EXPECT_EQ(fleet.verdicts(), std::vector<std::string>(5, "working"));
  EXPECT_TRUE(fleet.journals().contains("\"action\":\"kill\""));
}

// --- Idle ---------------------------------------------------------------------------------------

TEST_F(Faults, do_not_come_from_waking_up_too_often) {
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

}  // namespace
}  // namespace tend
