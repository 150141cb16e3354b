// Agents of other systems, kept by their stores. Numbers in names are those of the list of
// incidents that the stores were made from.
#include "run/kept_stores_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

TEST_F(KeptStores, an_agent_whose_stores_beat_works) {
  be_gas_town();
  write_file();
  watch();
  run_for(20min, [&] { write_file(); });
  EXPECT_EQ(verdict(), "working");
  EXPECT_EQ(told(""), 0);
  expect_nobody_was_ended();
}

TEST_F(KeptStores, S19_one_fresh_and_one_stale_store_are_a_divergence_and_no_stuck_agent) {
  be_gas_town();
  write_file();
  write_session();
  watch();
  run_for(2h, [&] { write_session(); });
  EXPECT_EQ(verdict(), "working");
  EXPECT_EQ(told("its stores disagree: session fresh"), 1) << events();
  EXPECT_EQ(told("file stale (5m"), 1) << "with the age of each";
  EXPECT_EQ(told("escalate"), 0);
  EXPECT_EQ(ran("gt"), 0) << "nobody is poked for it";
  expect_nobody_was_ended();
}

TEST_F(KeptStores, S19_the_reverse_is_a_divergence_too) {
  be_gas_town();
  write_file();
  write_session();
  watch();
  run_for(30min, [&] { write_file(); });
  EXPECT_EQ(verdict(), "working");
  EXPECT_EQ(told("its stores disagree: file fresh"), 1) << events();
}

TEST_F(KeptStores, a_divergence_that_ended_is_told_anew_when_it_comes_back) {
  be_gas_town();
  write_file();
  write_session();
  watch();
  run_for(10min, [&] { write_session(); });
  run_for(10min, [&] {
    write_session();
    write_file();
  });
  run_for(10min, [&] { write_session(); });
  EXPECT_EQ(told("its stores disagree: session fresh"), 2) << events();
}

TEST_F(KeptStores, a_stale_label_beside_a_fresh_file_stays_quiet) {
  be_gas_town();
  write_label();
  write_file();
  watch();
  run_for(3h, [&] { write_file(); });
  EXPECT_EQ(verdict(), "working");
  EXPECT_EQ(told(""), 0) << events();
}

TEST_F(KeptStores, all_stale_and_a_quiet_terminal_is_poked_and_escalated) {
  be_gas_town();
  pane_ = start_foreign();
  write_file();
  write_label();
  paint();
  watch();
  run_for(5min + 40s);
  EXPECT_EQ(verdict(), "suspect");
  EXPECT_EQ(ran("gt"), 0) << "stale is not very stale";
  EXPECT_EQ(told("\"escalate\""), 0);
  run_for(15min);
  EXPECT_EQ(verdict(), "stalled");
  EXPECT_EQ(ran("gt"), 1);
  EXPECT_EQ(told("\"escalate\""), 1) << events();
  run_for(5h);
  EXPECT_EQ(ran("gt"), 1) << "once an episode";
  EXPECT_TRUE(universe.runs("foreign"));
  expect_nobody_was_ended();
}

TEST_F(KeptStores, a_spinner_that_repaints_does_not_hide_a_stall_past_its_ceiling) {
  be_gas_town();
  pane_ = start_foreign();
  write_file();
  watch();
  run_for(35min, [&] { paint(); });
  EXPECT_EQ(verdict(), "suspect") << "something moves";
  EXPECT_EQ(told("\"escalate\""), 0);
  EXPECT_EQ(told("its stores disagree: tmux fresh"), 1) << "and that is a divergence";
  run_for(10min, [&] { paint(); });
  EXPECT_EQ(verdict(), "stalled");
  EXPECT_EQ(told("\"escalate\""), 1) << events();
}

TEST_F(KeptStores, S18_an_idle_unit_with_nothing_to_do_is_left_alone) {
  be_gas_town();
  pane_ = start_foreign();
  paint();
  write_file();
  write_session("idle");
  watch();
  run_for(25min);
  EXPECT_EQ(verdict(), "idle");
  run_for(8h);
  EXPECT_EQ(verdict(), "idle");
  EXPECT_EQ(told(""), 0) << events();
  EXPECT_EQ(ran("gt"), 0);
}

TEST_F(KeptStores, S07_one_that_waits_for_a_person_for_a_day_is_idle_by_its_own_word) {
  be_gas_town();
  pane_ = start_foreign();
  paint();
  write_session("idle");
  watch();
  run_for(24h);
  EXPECT_EQ(verdict(), "idle");
  EXPECT_EQ(told("\"escalate\""), 0);
}

TEST_F(KeptStores, stuck_by_its_own_word_is_escalated_at_once_and_never_restarted) {
  be_gas_town();
  write_session();
  watch();
  write_session("stuck");
  run_for(1min);
  EXPECT_EQ(verdict(), "suspect");
  EXPECT_EQ(told("\"escalate\""), 1) << events();
  run_for(2h, [&] { write_file(); });
  EXPECT_EQ(kept.count("action", "restart") + kept.count("action", "kill"), 0);
}

TEST_F(KeptStores, S08_a_tool_call_of_ten_minutes_is_suspect_and_forgiven) {
  be_gas_town();
  write_file();
  watch();
  run_for(10min);
  EXPECT_EQ(verdict(), "suspect");
  write_file();
  run_for(1min);
  EXPECT_EQ(verdict(), "working");
  EXPECT_EQ(told("\"escalate\""), 0);
}

TEST_F(KeptStores, S21_a_half_written_file_falls_back_to_its_mtime) {
  be_gas_town();
  watch();
  run_for(20min, [&] {
    universe.disk.write("/town/deacon/heartbeat.json", "{\n  \"timestamp\": \"2026-0");
  });
  EXPECT_EQ(verdict(), "working");
  EXPECT_EQ(told(""), 0) << events();
}

TEST_F(KeptStores, S09_a_heartbeat_of_the_life_before_counts_for_nothing) {
  be_teaparty();
  write_heartbeat(4000);
  run_for(1min);
  const auto pid = start_foreign();
  const std::string old =
      fmt::format(R"({{"pid":{},"started":{:.3f},"status":"running"}})", pid, started(pid));
  universe.disk.write("/job/.heartbeat", old);
  universe.disk.set_modified("/job/.heartbeat", universe.wall() - 50s);
  watch();
  run_for(1min);
  EXPECT_EQ(verdict(), "starting") << "no beat of this life yet";
  write_heartbeat(pid);
  run_for(30s);
  EXPECT_EQ(verdict(), "working");
}

TEST_F(KeptStores, S11_a_fresh_beat_of_a_dead_process_is_a_death) {
  be_teaparty();
  const auto pid = start_foreign();
  write_heartbeat(pid);
  watch();
  run_for(1min, [&] { universe.disk.set_modified("/job/.heartbeat", universe.wall()); });
  EXPECT_EQ(verdict(), "working");
  universe.signal(pid, Kill::kill);
  run_for(3min, [&] { universe.disk.set_modified("/job/.heartbeat", universe.wall()); });
  EXPECT_EQ(verdict(), "dead");
  EXPECT_EQ(told("\"escalate\""), 1) << events();
  EXPECT_FALSE(kept.over()) << "its own system may bring it back";
}

TEST_F(KeptStores, S12_a_writer_that_outlives_its_subject_keeps_nobody_alive) {
  be_hyrm();
  write_registry({entry("gone", 656016)});
  watch();
  run_for(10min, [&] { write_registry({entry("gone", 656016)}); });
  EXPECT_EQ(verdict(), "dead");
  EXPECT_EQ(told("\"escalate\""), 1) << events();
}

TEST_F(KeptStores, S04_a_pid_that_came_to_mean_another_is_a_death) {
  be_teaparty();
  const auto pid = start_foreign();
  write_heartbeat(pid);
  watch();
  run_for(30s);
  universe.signal(pid, Kill::kill);
  run_for(10s);
  universe.next_pid = pid;
  ASSERT_EQ(start_foreign(), pid);
  universe.disk.set_modified("/job/.heartbeat", universe.wall());
  run_for(2min);
  EXPECT_EQ(verdict(), "dead");
  EXPECT_TRUE(universe.runs(pid)) << "and the other is let alone";
}

TEST_F(KeptStores, S13_of_two_entries_the_living_one_is_meant) {
  be_hyrm();
  const auto pid = start_foreign();
  watch();
  run_for(10min, [&] { write_registry({entry("zombie", 656016), entry("live", pid)}); });
  EXPECT_EQ(verdict(), "working");
  EXPECT_EQ(kept.heartbeat().process.pid, pid);
}

TEST_F(KeptStores, S16_the_lease_of_a_predecessor_says_nothing_of_its_successor) {
  be_hyrm();
  const auto pid = start_foreign();
  write_registry({entry("a2", pid)});
  watch();
  run_for(20min, [&] { write_lease("a1"); });
  EXPECT_EQ(verdict(), "stalled") << "a1 beats, and a2 does not";
  EXPECT_EQ(told("its stores disagree"), 0) << events();
}

TEST_F(KeptStores, S33_the_process_of_another_machine_is_not_looked_for_on_this_one) {
  be_hyrm();
  const std::int64_t elsewhere = start_foreign();  // another, who has that number here
  auto source = foreign_agent(kept.config, "orchestrator", "", "/home/user").sources.front();
  source.agent = "orchestrator";
  source.store.ignores_pid = true;
  kept.config.sources = {source};
  kept.config.stores["orchestrator"].kill = true;
  write_registry({entry("a1", elsewhere)});
  watch();
  run_for(2min, [&] { write_registry({entry("a1", elsewhere)}); });
  EXPECT_EQ(verdict(), "working");
  universe.signal(elsewhere, Kill::kill);
  run_for(10min, [&] { write_registry({entry("a1", elsewhere)}); });
  EXPECT_EQ(verdict(), "working") << "its beats alone tell of it";
  const std::int64_t stranger = start_foreign();
  write_registry({entry("a1", stranger)});
  run_for(2h);
  EXPECT_EQ(verdict(), "stalled");
  EXPECT_TRUE(universe.runs(stranger)) << "and nobody here is ended for it";
}

TEST_F(KeptStores, S02_a_record_that_says_finished_ends_the_watch) {
  be_teaparty();
  const auto pid = start_foreign();
  write_heartbeat(pid);
  watch();
  run_for(30s);
  write_heartbeat(pid, "completed");
  run_for(30s);
  EXPECT_EQ(verdict(), "finished");
  universe.signal(pid, Kill::kill);
  run_for(30s);
  EXPECT_TRUE(kept.over());
  EXPECT_EQ(told("\"escalate\""), 0);
}

TEST_F(KeptStores, S22_a_clean_exit_that_was_announced_is_no_crash) {
  be_gas_town();
  pane_ = start_foreign();
  paint();
  write_session();
  watch();
  run_for(30s);
  write_session("exiting");
  run_for(30s);
  universe.signal(pane_, Kill::kill);
  painted_ = 0;
  run_for(30min);
  EXPECT_EQ(verdict(), "finished");
  EXPECT_EQ(told(""), 0) << events();
}

TEST_F(KeptStores, a_restart_by_its_own_system_is_its_next_life) {
  be_teaparty();
  auto pid = start_foreign();
  write_heartbeat(pid);
  watch();
  run_for(1min);
  EXPECT_EQ(kept.heartbeat().life, 1U);
  universe.signal(pid, Kill::kill);
  run_for(30s);
  EXPECT_EQ(verdict(), "dead");
  pid = start_foreign();
  write_heartbeat(pid);
  run_for(30s);
  EXPECT_EQ(verdict(), "working");
  EXPECT_EQ(kept.heartbeat().life, 2U);
  EXPECT_EQ(kept.heartbeat().process.pid, pid);
  run_for(3min, [&] { write_heartbeat(pid); });
  EXPECT_EQ(told("\"escalate\""), 0) << events();
  kept.check_replay();
}

TEST_F(KeptStores, S28_eight_hours_of_sleep_make_no_store_stale) {
  be_gas_town();
  write_file();
  write_session();
  watch();
  run_for(1min);
  universe.sleep_machine(8h);
  universe.run_for(20s);
  write_file();
  write_session();
  run_for(5min, [&] {
    write_file();
    write_session();
  });
  EXPECT_EQ(verdict(), "working");
  EXPECT_EQ(told(""), 0) << events();
}

TEST_F(KeptStores, S29_a_calendar_that_jumps_by_an_hour_makes_nobody_stale) {
  for (const Duration step : {Duration{1h}, Duration{-1h}}) {
    be_gas_town();
    write_file();
    write_session();
    if (kept.keeper == 0) watch();
    run_for(1min, [&] {
      write_file();
      write_session();
    });
    universe.step_wall(step);
    universe.run_for(2min);
    EXPECT_EQ(verdict(), "working") << step.count();
    run_for(10min, [&] {
      write_file();
      write_session();
    });
    EXPECT_EQ(verdict(), "working") << step.count();
  }
  EXPECT_EQ(told(""), 0) << events();
}

TEST_F(KeptStores, S30_a_beat_from_before_the_boot_counts_for_nothing) {
  be_gas_town();
  write_file();
  universe.reboot({.takes = 2min});
  watch();
  run_for(1min);
  EXPECT_EQ(verdict(), "starting");
  write_file();
  run_for(30s);
  EXPECT_EQ(verdict(), "working");
}

TEST_F(KeptStores, S37_a_command_that_hangs_holds_nobody_up) {
  be_gas_town();
  universe.on_run = [](const tend::Run& run) -> std::optional<SimAnswer> {
    if (run.command.front() == "bd" || run.command.front() == "tmux") {
      return SimAnswer{.takes = 1h};
    }
    return std::nullopt;
  };
  write_file();
  watch();
  run_for(20min, [&] { write_file(); });
  EXPECT_EQ(verdict(), "working");
  EXPECT_EQ(told(""), 0) << events();
}

TEST_F(KeptStores, S38_a_store_that_cannot_be_read_is_no_dead_agent) {
  be_gas_town();
  write_file();
  watch();
  run_for(1min);
  universe.disk.make_unreadable("/town/deacon/heartbeat.json");
  run_for(1h);
  EXPECT_EQ(verdict(), "unknown");
  EXPECT_EQ(told("\"escalate\""), 0) << events();
  EXPECT_EQ(told("not fit to judge"), 1) << "but somebody is told";
}

TEST_F(KeptStores, S39_a_zombie_is_no_living_process) {
  be_teaparty();
  const auto mother = universe.start_process("mother");
  Launch launch;
  launch.command = {"foreign"};
  const auto pid = universe.start_command(launch, mother);
  write_heartbeat(pid);
  watch();
  run_for(30s);
  EXPECT_EQ(verdict(), "working");
  universe.signal(pid, Kill::kill);
  run_for(1min, [&] { universe.disk.set_modified("/job/.heartbeat", universe.wall()); });
  EXPECT_EQ(verdict(), "dead");
}

TEST_F(KeptStores, a_keeper_that_comes_after_goes_on_without_a_false_alarm) {
  be_gas_town();
  write_file();
  watch();
  run_for(2min, [&] { write_file(); });
  universe.kill(kept.keeper);
  run_for(2min, [&] { write_file(); });
  kept.start_keeper();
  run_for(10min, [&] { write_file(); });
  EXPECT_EQ(verdict(), "working");
  EXPECT_EQ(kept.heartbeat().life, 1U);
  EXPECT_EQ(told(""), 0) << events();
  kept.check_replay();
}

TEST_F(KeptStores, a_poke_that_fails_is_said) {
  be_gas_town();
  universe.answers["gt"] = {.exit = {ExitStatus::How::code, 1}, .error = "no such session\n"};
  write_file();
  watch();
  run_for(25min);
  EXPECT_TRUE(events().contains("not poked: exit 1, no such session")) << events();
}

}  // namespace
}  // namespace tend
