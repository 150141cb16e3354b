// The keeper when the machine around it fails: its disk, its locks, its processes, its clocks.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "run/kept_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class Faults : public KeptTest {};

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
  EXPECT_EQ(starts(), 1) << "what it printed meanwhile is lost: it has its time again";
  universe.run_for(10min);
  expect_working(2);
}

TEST_F(Faults, of_a_journal_that_cannot_be_read_make_the_next_keeper_patient) {
  behave(hang_once);
  kept.start_keeper();
  universe.run_for(30s);
  universe.kill(kept.keeper);
  universe.disk.make_unreadable(kept.path("journal.jsonl"));
  kept.start_keeper();
  universe.run_for(1s);
  universe.disk.make_readable(kept.path("journal.jsonl"));
  universe.run_for(14min);
  EXPECT_EQ(starts(), 1) << "how long it may be silent is not known any more";
  universe.run_for(10min);
  expect_working(2);
}

TEST_F(Faults, of_a_registry_that_cannot_be_read_leave_a_hanging_agent_alone) {
  behave(hang_once);
  universe.disk.write(kept.path(".children"), "");
  universe.disk.make_unreadable(kept.path(".children"));
  kept.start_keeper();
  universe.run_for(10min);
  EXPECT_EQ(starts(), 1) << "whom it waits for is not known";
  EXPECT_EQ(word(kept.heartbeat().verdict), "unknown");
  universe.disk.make_readable(kept.path(".children"));
  universe.run_for(10min);
  expect_working(2);
}

TEST_F(Faults, of_a_full_disk_make_the_next_keeper_as_patient_as_the_one_that_saw_it) {
  behave(hang_once);
  kept.start_keeper();
  universe.run_for(30s);
  universe.disk.room = 0;
  universe.run_for(5min);
  universe.disk.room.reset();
  universe.run_for(1min);  // it can write again, and knows what it owes
  universe.kill(kept.keeper);
  kept.start_keeper();
  universe.run_for(13min);
  EXPECT_EQ(starts(), 1) << "what it printed meanwhile is lost: it has its time again";
  universe.run_for(15min);
  expect_working(2);
}

TEST_F(Faults, of_a_full_disk_are_known_to_the_next_keeper_where_only_the_journal_had_room_again) {
  behave(hang_once);
  kept.start_keeper();
  universe.run_for(30s);
  universe.disk.room = 0;
  universe.run_for(1min);
  const auto waiting = [&] { return kept.count("verdict", "unknown") == 0; };
  for (universe.disk.room = 0; waiting(); universe.run_for(5s)) *universe.disk.room += 100;
  universe.kill(kept.keeper);  // its heartbeat still says what it said before
  universe.disk.room.reset();
  kept.start_keeper();
  universe.run_for(13min);
  EXPECT_EQ(starts(), 1) << "what it printed meanwhile is lost: it has its time again";
  universe.run_for(15min);
  expect_working(2);
}

TEST_F(Faults, of_a_full_disk_let_a_stop_through) {
  kept.have_a_work_tree(1s);
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
  universe.reboot({.lost = SimReboot::Lost::unsynced});
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

TEST_F(Faults, of_a_journal_that_is_gone_do_not_hide_that_an_agent_has_lived) {
  for (const bool rebooted : {false, true}) {
    Kept one;
    one.be_patient_as_with_an_agent();
    one.universe.behaviours["worker"] = print_now_and_then;
    one.start_keeper();
    one.universe.run_for(60s);
    one.universe.kill(one.keeper);
    one.universe.signal(one.workers().front(), Kill::kill);
    one.universe.run_for(1s);
    if (rebooted) one.universe.reboot();
    one.universe.disk.remove(one.path("journal.jsonl"));
    one.start_keeper();
    one.universe.run_for(3min);
    EXPECT_EQ(one.workers().size(), 1U) << rebooted;
    EXPECT_EQ(one.heartbeat().life, 2U) << rebooted;
    EXPECT_EQ(one.heartbeat().resumes_spent, rebooted ? 0U : 1U);
    EXPECT_EQ(one.heartbeat().verdict, Verdict::working) << rebooted;
    one.check_replay();
  }
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
  const std::string events =
      universe.disk.read(std::string(Kept::kHome) + "/events.jsonl").value_or("");
  EXPECT_TRUE(events.contains("another keeper has come")) << events;
  EXPECT_TRUE(events.contains(R"("needs_person":true)")) << "somebody forced it in";
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
  kept.have_a_work_tree(60s);
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

TEST_F(Faults, of_the_calendar_hide_no_beat_that_came_without_a_keeper) {
  kept.policy.limits.beats = {.suspect = 10min, .stalled = 12min};
  const auto beat = [](SimSelf& self) { self.touch(Kept::path(".beat")); };
  behave([beat](SimSelf& self) {
    self.after(1s, beat);
    self.after(6min, beat);
  });
  kept.start_keeper();
  universe.run_for(4min);
  universe.kill(kept.keeper);
  universe.run_for(4min);
  universe.step_wall(-1h);
  kept.start_keeper();
  universe.run_for(9min);
  expect_working(1);
  universe.run_for(30min);
  EXPECT_GT(kept.count("action", "kill"), 0);
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
  kept.have_a_work_tree(60s);
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

TEST_F(Faults, of_a_slow_disk_do_not_kill_one_that_woke_while_its_end_was_written_down) {
  int spared = 0;
  for (Duration wakes = 119s; wakes < 135s; wakes += 250ms) {
    Kept one;
    one.be_patient_as_with_an_agent();
    one.policy.limits.model = 100s;
    one.policy.limits.confirm = 20s;
    std::optional<Instant> woke;
    one.universe.behaviours["worker"] = [&](SimSelf& self) {
      hang(self);
      self.after(wakes, [&](SimSelf& me) {
        woke = one.universe.now();
        me.print("awake\n");
      });
    };
    one.start_keeper();
    one.universe.run_for(118s);
    one.universe.call_takes = 200ms;
    one.universe.run_until([&] { return !one.universe.sent().empty(); }, 30s);
    if (one.universe.sent().empty()) {
      spared += one.count("action", "kill");
    } else {
      EXPECT_FALSE(woke) << wakes.count();
    }
  }
  EXPECT_GT(spared, 0);
}

TEST_F(Faults, of_a_slow_disk_do_not_save_one_that_only_makes_a_noise) {
  behave([](SimSelf& self) {
    hang_once(self);
    if (self.variable("TEND_LIFE") != "1") return;
    self.every(1s, [](SimSelf& me) { me.append(Kept::path("signals.jsonl"), "noise\n"); });
  });
  kept.start_keeper();
  universe.run_for(10min);
  EXPECT_EQ(starts(), 2);
  expect_working(2);
}

TEST_F(Faults, of_a_keeper_that_did_not_run_just_before_its_second_look_put_off_a_kill) {
  behave(hang_once);
  kept.start_keeper();
  ASSERT_TRUE(
      universe.run_until([&] { return kept.heartbeat().verdict == Verdict::suspect; }, 10min));
  universe.run_for(1s);
  universe.pause(kept.keeper);
  universe.run_for(40s);
  universe.go_on(kept.keeper);
  universe.run_for(50s);
  EXPECT_EQ(starts(), 1) << "it is looked at again first";
  universe.run_for(10min);
  expect_working(2);
}

TEST_F(Faults, of_the_observer_put_off_a_kill_and_do_not_forget_it) {
  kept.have_a_work_tree(60s);
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

/// Its first life hangs, and takes no notice of being interrupted.
void hang_deaf_to_interrupts(SimSelf& self) {
  hang_once(self);
  if (self.variable("TEND_LIFE") == "1") self.ignore(Kill::interrupt);
}

TEST_F(Faults, of_the_observer_break_off_a_kill_that_has_begun) {
  behave(hang_deaf_to_interrupts);
  kept.start_keeper();
  ASSERT_TRUE(universe.run_until([&] { return !universe.sent().empty(); }, 10min));
  universe.sleep_machine(3h);
  universe.run_for(60s);
  EXPECT_EQ(starts(), 1) << "it is looked at again first";
  universe.run_for(10min);
  expect_working(2);
}

TEST_F(Faults, of_the_observer_let_one_live_that_works_on_after_them) {
  behave([](SimSelf& self) {
    hang_deaf_to_interrupts(self);
    self.after(160s, [](SimSelf& me) { print_now_and_then(me); });
  });
  kept.start_keeper();
  ASSERT_TRUE(universe.run_until([&] { return !universe.sent().empty(); }, 150s));
  universe.sleep_machine(3h);
  universe.run_for(30min);
  EXPECT_EQ(starts(), 1);
  expect_working(1);
}

TEST_F(Faults, of_the_keeper_do_not_end_one_that_woke_while_its_children_had_ended) {
  // Under `resume` without `kill`: a background task that ended long ago.
  kept.have_a_work_tree(60s);
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

TEST_F(Faults, of_a_keeper_that_died_in_a_sleep_of_the_machine_kill_nobody) {
  behave([](SimSelf& self) {
    self.every(70s, [n = 0](SimSelf& me) mutable { me.print(std::to_string(++n) + "\n"); });
  });
  kept.start_keeper();
  universe.run_for(150s);
  universe.sleep_machine(3h);
  universe.kill(kept.keeper);
  kept.start_keeper();
  universe.run_for(30min);
  expect_working(1);
}

TEST_F(Faults, of_a_keeper_that_died_in_a_sleep_shorter_than_one_before_the_restart_kill_nobody) {
  kept.be_patient_as_with_an_agent();
  behave([](SimSelf& self) {
    self.print_after(1s, "0\n");
    self.every(8min, [n = 0](SimSelf& me) mutable { me.print(std::to_string(++n) + "\n"); });
  });
  kept.start_keeper();
  universe.run_for(150s);
  universe.sleep_machine(4h);
  universe.run_for(150s);
  universe.reboot();
  kept.start_keeper();
  universe.run_for(500s);
  universe.sleep_machine(3h);
  universe.kill(kept.keeper);
  kept.start_keeper();
  universe.run_for(30min);
  expect_working(2);
}

TEST_F(Faults, of_a_full_disk_hide_no_sleep_from_the_next_keeper) {
  kept.start_keeper();
  universe.run_for(60s);
  universe.disk.room = 0;
  universe.run_for(30s);
  universe.sleep_machine(4h);
  universe.run_for(1s);  // the sleep is seen, and cannot be written down
  universe.kill(kept.keeper);
  universe.disk.room.reset();
  kept.start_keeper();
  universe.run_for(10min);
  expect_working(1);
}

TEST_F(Faults, of_a_disk_that_lost_an_order_do_not_turn_a_stop_into_success) {
  kept.start_keeper();
  universe.run_for(10s);
  kept.say({.want = Want::stop, .by = "tend stop", .at = 1});
  universe.run_until([&] { return kept.workers().empty(); }, 1min);
  universe.kill(kept.keeper);
  universe.disk.remove(Kept::path("intent.json"));
  kept.start_keeper();
  universe.run_for(10s);
  EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::stopped);
}

}  // namespace
}  // namespace tend
