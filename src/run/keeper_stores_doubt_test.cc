// Stores that are not to be believed, or not for ever: those that lag, a rest without a process,
// the word of a monitor, a number without its start; and a keeper that cannot look or begin as it
// should.
#include "run/kept_stores_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

TEST_F(KeptStores, idle_by_its_word_alone_is_not_believed_for_ever) {
  be_gas_town();
  write_session("idle");
  watch();
  run_for(39min);
  EXPECT_EQ(verdict(), "idle");
  EXPECT_EQ(told(""), 0) << events();
  run_for(5min);
  EXPECT_EQ(verdict(), "stalled") << "no process, and no word since";
  EXPECT_EQ(told("\"escalate\""), 1) << events();
  write_session("idle");
  run_for(1min);
  EXPECT_EQ(verdict(), "idle") << "it says so again";
  run_for(24h, [&] { write_session("idle"); });
  EXPECT_EQ(verdict(), "idle");
  EXPECT_EQ(told("\"escalate\""), 1) << events();
  kept.check_replay();
}

TEST_F(KeptStores, an_agent_of_zylos_that_is_offline_is_not_kept_alive_by_who_says_so) {
  be_zylos();
  write_status("busy", seconds());
  watch();
  run_for(1min, [&] { write_status("busy", seconds()); });
  EXPECT_EQ(verdict(), "working");
  run_for(11min, [&] { write_offline(); });
  EXPECT_EQ(verdict(), "suspect");
  run_for(21min, [&] { write_offline(); });
  EXPECT_EQ(verdict(), "stalled");
  EXPECT_EQ(told("\"escalate\""), 1) << events();
}

TEST_F(KeptStores, an_agent_of_zylos_that_was_idle_rests_no_more_once_it_is_offline) {
  be_zylos();
  pane_ = start_foreign();  // its shell outlives it
  paint();
  const std::int64_t moved = seconds();
  watch();
  run_for(1h, [&] { write_status("idle", moved); });
  EXPECT_EQ(verdict(), "idle");
  run_for(12min, [&] { write_offline(); });
  EXPECT_EQ(verdict(), "suspect");
  run_for(21min, [&] { write_offline(); });
  EXPECT_EQ(verdict(), "stalled");
  EXPECT_EQ(told("\"escalate\""), 1) << events();
}

TEST_F(KeptStores, a_store_that_lags_with_the_number_of_an_old_process_makes_nobody_dead) {
  be_two_stores();
  write_entry(4000);  // of a life that is over
  run_for(90s);
  write_beat();
  watch();
  run_for(20min, [&] { write_beat(); });
  EXPECT_EQ(verdict(), "working");
  EXPECT_EQ(kept.count("verdict", "dead"), 0) << events();
  EXPECT_EQ(told("\"escalate\""), 0) << events();
  EXPECT_EQ(told("its stores disagree: file fresh"), 1) << "but somebody is told of the writer";
}

TEST_F(KeptStores, the_end_of_a_process_that_only_a_stale_store_names_is_not_the_agents) {
  be_two_stores();
  const auto pid = start_foreign();
  write_entry(pid);
  write_beat();
  watch();
  EXPECT_EQ(kept.heartbeat().process.pid, pid);
  run_for(10min, [&] { write_beat(); });
  EXPECT_EQ(kept.heartbeat().process.pid, 0) << "a fresher store goes on without it";
  universe.signal(pid, Kill::kill);
  run_for(10min, [&] { write_beat(); });
  EXPECT_EQ(verdict(), "working");
  EXPECT_EQ(kept.count("verdict", "dead"), 0) << events();
  EXPECT_EQ(kept.heartbeat().life, 1U);
  const auto next = start_foreign();
  write_entry(next);
  run_for(1min, [&] { write_beat(); });
  EXPECT_EQ(kept.heartbeat().process.pid, next) << "it is heard again once it is no more stale";
  kept.check_replay();
}

TEST_F(KeptStores, one_that_died_and_beats_on_where_no_process_is_named_is_in_its_next_life) {
  be_two_stores();
  const auto pid = start_foreign();
  write_entry(pid);
  write_beat();
  watch();
  universe.signal(pid, Kill::kill);
  run_for(1min, [&] { write_beat(); });
  EXPECT_EQ(verdict(), "dead");
  run_for(10min, [&] { write_beat(); });
  EXPECT_EQ(verdict(), "working");
  EXPECT_EQ(kept.heartbeat().life, 2U);
  kept.check_replay();
}

TEST_F(KeptStores, that_all_are_stale_makes_the_end_of_the_process_count) {
  be_two_stores();
  write_entry(4000);
  run_for(90s);
  write_beat();
  watch();
  run_for(10min);
  EXPECT_EQ(verdict(), "dead");
}

TEST_F(KeptStores, a_lease_of_the_same_holder_does_not_outlive_its_process) {
  be_hyrm();
  const auto pid = start_foreign();
  write_registry({entry("a1", pid)});
  write_lease("a1");
  watch();
  universe.signal(pid, Kill::kill);
  run_for(20min, [&] { write_lease("a1"); });
  EXPECT_EQ(verdict(), "dead") << "a service beats in its name";
  EXPECT_EQ(told("\"escalate\""), 1) << events();
}

TEST_F(KeptStores,
       a_command_that_takes_longer_than_a_round_is_said_to_be_slow_and_keeps_nobody_busy) {
  AgentStore slow;
  slow.name = "job";
  slow.agent = "deacon";
  slow.store.kind = StoreKind::command;
  slow.store.command = {"slow"};
  slow.store.field = "at";
  slow.store.deadline = 60s;
  AgentStore file = slow;
  file.name = "file";
  file.store.kind = StoreKind::mtime;
  file.store.path = "/x/touched";
  file.stale = 20s;  // a round is 2s
  kept.config.stores["deacon"] = {};
  kept.config.sources = {slow, file};
  int most = 0;
  universe.on_run = [&](const tend::Run& run) -> std::optional<SimAnswer> {
    if (run.command.front() != "slow") return std::nullopt;
    ++most;
    return SimAnswer{.output = fmt::format(R"({{"at":"{}"}})", now()), .takes = 45s};
  };
  universe.disk.write("/x/touched", "");
  watch();
  const auto before = universe.calls(kept.keeper);
  for (int i = 0; i < 120; ++i) {
    universe.disk.set_modified("/x/touched", universe.wall());
    universe.run_for(5s);
  }
  EXPECT_LT(universe.calls(kept.keeper) - before, 100'000U) << "300 rounds";
  EXPECT_LE(most, 14) << "one at a time";
  EXPECT_GE(most, 12) << "and again when it has answered";
  EXPECT_EQ(verdict(), "working") << "the file was looked at meanwhile";
  EXPECT_EQ(kept.count("verdict", "suspect"), 0) << events();
  EXPECT_EQ(kept.count("note", "the store job is slow: slow takes longer than 2s"), 1) << events();
  kept.check_replay();
}

TEST_F(KeptStores, a_configuration_that_is_broken_when_it_is_reloaded_changes_nothing) {
  be_gas_town();
  bool broken = true;
  kept.may_reload = [&]() -> Result<void> {
    if (broken) return fail("config.toml:3: no such table");
    return {};
  };
  write_file();
  watch();
  run_for(1min, [&] { write_file(); });
  universe.order(kept.keeper, Order::hang_up);
  run_for(10min, [&] { write_file(); });
  EXPECT_TRUE(universe.runs(kept.keeper));
  EXPECT_EQ(verdict(), "working");
  EXPECT_TRUE(events().contains("not reloaded, it goes on as it was: config.toml:3: no such table"))
      << events();
  broken = false;
  universe.order(kept.keeper, Order::hang_up);
  universe.run_for(1s);
  EXPECT_FALSE(universe.runs(kept.keeper)) << "to be replaced by its newer self";
}

TEST_F(KeptStores, a_divergence_is_in_the_heartbeat_and_is_not_told_again_by_the_next_keeper) {
  be_gas_town();
  write_file();
  write_session();
  watch();
  run_for(10min, [&] { write_session(); });
  EXPECT_EQ(told("its stores disagree"), 1) << events();
  EXPECT_EQ(kept.heartbeat().divergence, "session fresh, file stale");
  universe.kill(kept.keeper);
  kept.start_keeper();
  run_for(30min, [&] { write_session(); });
  EXPECT_EQ(told("its stores disagree"), 1) << events();
  EXPECT_EQ(kept.heartbeat().divergence, "session fresh, file stale");
  const auto both = [&] {
    write_session();
    write_file();
  };
  run_for(10min, both);
  EXPECT_EQ(kept.heartbeat().divergence, "");
  EXPECT_TRUE(events().contains("its stores agree again")) << events();
  run_for(10min, [&] { write_session(); });
  EXPECT_EQ(told("its stores disagree"), 2) << "another one is told";
  kept.check_replay();
}

TEST_F(KeptStores, only_what_may_be_ended_is_and_only_if_its_process_is_proven) {
  be_teaparty();
  kept.config.stores["deacon"].kill = true;
  const auto pid = start_foreign();
  write_heartbeat(pid);
  watch();
  run_for(20min);
  EXPECT_FALSE(universe.runs(pid));
  EXPECT_EQ(kept.count("action", "kill"), 1);
  EXPECT_FALSE(kept.over()) << "its own system starts it again";
  EXPECT_FALSE(universe.runs("foreign")) << "we do not";
}

TEST_F(KeptStores, a_bare_number_is_no_proof_of_a_process_and_nobody_is_ended_for_it) {
  be_two_stores();
  kept.config.stores["deacon"].kill = true;
  const auto pid = start_foreign();
  write_entry(pid);
  watch();
  EXPECT_EQ(kept.heartbeat().process.pid, pid) << "it is looked at";
  run_for(2h);
  EXPECT_EQ(verdict(), "stalled");
  EXPECT_TRUE(universe.runs(pid));
  EXPECT_TRUE(events().contains("its process is not proven")) << events();
  EXPECT_EQ(told("\"escalate\""), 1) << events();
  expect_nobody_was_ended();
}

TEST_F(KeptStores, a_number_with_another_start_is_no_proof_and_one_with_its_own_is) {
  be_two_stores();
  kept.config.stores["deacon"].kill = true;
  const auto pid = start_foreign();
  run_for(1min);
  const auto start = [&](double later) {
    return fmt::format(R"(,"started":{:.3f})", started(pid) + later);
  };
  write_entry(pid, start(30));  // of an agent that began in a process that was there before
  watch();
  run_for(2h);
  EXPECT_TRUE(universe.runs(pid));
  expect_nobody_was_ended();
  write_entry(pid, start(0.5));
  run_for(2h);
  EXPECT_FALSE(universe.runs(pid));
}

TEST_F(KeptStores, the_pane_of_a_terminal_is_no_proof_of_a_process_and_is_not_ended) {
  be_gas_town();
  kept.config.stores["deacon"].kill = true;
  pane_ = start_foreign();
  paint();
  write_file();
  watch();
  EXPECT_EQ(kept.heartbeat().process.pid, pane_) << "it is looked at";
  run_for(2h);
  EXPECT_EQ(verdict(), "stalled");
  EXPECT_TRUE(universe.runs(pane_));
  EXPECT_EQ(told("\"escalate\""), 1) << events();
  expect_nobody_was_ended();
}

TEST_F(KeptStores, the_bare_pid_of_an_older_folder_is_no_proof_and_is_not_ended) {
  be_teaparty();
  kept.config.stores["deacon"].kill = true;
  const auto pid = start_foreign();
  universe.disk.write("/job/.running", fmt::format("{}\n", pid));
  watch();
  run_for(2h);
  EXPECT_TRUE(universe.runs(pid));
  expect_nobody_was_ended();
}

TEST_F(KeptStores, one_that_may_be_ended_is_not_where_no_process_is_known) {
  be_gas_town();
  kept.config.stores["deacon"].kill = true;
  write_file();
  watch();
  const auto other = start_foreign();
  run_for(2h);
  EXPECT_TRUE(universe.runs(other));
  EXPECT_EQ(told("\"escalate\""), 1) << events();
  expect_nobody_was_ended();
}

TEST_F(KeptStores, one_that_may_be_ended_is_not_when_it_says_that_it_is_stuck) {
  be_gas_town();
  kept.config.stores["deacon"].kill = true;
  pane_ = start_foreign();
  paint();
  write_session();
  watch();
  run_for(1min);
  write_session("stuck");
  run_for(2h);
  EXPECT_TRUE(universe.runs(pane_));
  expect_nobody_was_ended();
}

}  // namespace
}  // namespace tend
