// What the patrol does about tasks: the ladder carried out, once for each episode, across restarts
// and faults.
#include "run/patrol.h"

#include "run/patrol_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

// --- The ladder ---------------------------------------------------------------------------------

TEST_F(PatrolTest, who_goes_silent_is_warned_of_pinged_and_escalated_once_and_never_robbed) {
  become_fit();
  have("web:3", "alice");
  patrol_for(50min);
  EXPECT_EQ(count("warn task web:3 of alice"), 1);
  EXPECT_EQ(count("ping task web:3 of alice"), 1);
  EXPECT_EQ(count("escalate task web:3 of alice"), 1);
  EXPECT_EQ(count("reassign"), 0);
  const auto letter = letters("alice");
  ASSERT_EQ(letter.size(), 1U);
  EXPECT_EQ(letter[0].from, "patrol");
  EXPECT_EQ(letter[0].subject, "[PING] web:3: are you still at it?");
  EXPECT_TRUE(letter[0].body.contains("tend heartbeat web:3")) << letter[0].body;
  const auto notice = notices("task:web:3");
  ASSERT_EQ(notice.size(), 1U);
  EXPECT_EQ(notice[0].channel, "phone");
  EXPECT_TRUE(notice[0].payload.contains("alice")) << notice[0].payload;
  EXPECT_EQ(task("web:3").assignee, "alice");
  EXPECT_EQ(events(R"("action":"warn")"), 1);
  EXPECT_EQ(events(R"("action":"ping")"), 1);
  EXPECT_EQ(events(R"("action":"escalate")"), 1);
  EXPECT_EQ(last.open, 1U);
  EXPECT_EQ(last.silent, 1U);
}

TEST_F(PatrolTest, who_beats_in_time_is_left_alone) {
  become_fit();
  have("t", "alice");
  for (int i = 0; i < 12; ++i) {
    patrol_for(5min);
    beat("t", "alice");
  }
  EXPECT_TRUE(said.empty()) << said.front();
  EXPECT_EQ(last.open, 0U);
}

TEST_F(PatrolTest, an_answer_to_the_ping_ends_the_episode) {
  become_fit();
  have("t", "alice");
  patrol_for(12min);
  ASSERT_EQ(count("ping"), 1);
  acknowledge(letters("alice").front());
  patrol_for(4min);
  EXPECT_EQ(count("escalate"), 0);
  EXPECT_EQ(last.silent, 0U);
}

TEST_F(PatrolTest, a_new_beat_closes_what_was_escalated) {
  become_fit();
  have("t", "alice");
  patrol_for(30min);
  ASSERT_EQ(notices("task:t").size(), 1U);
  beat("t", "alice");
  sweep();
  EXPECT_TRUE(notices("task:t").empty() || notices("task:t").back().closed);
  EXPECT_EQ(count("over"), 1);
  EXPECT_EQ(last.open, 0U);
  patrol_for(30min);
  EXPECT_EQ(count("escalate"), 2) << "a new episode is told anew";
}

TEST_F(PatrolTest, a_worker_that_is_kept_and_works_is_pinged_and_never_robbed) {
  become_fit();
  keep("coder");
  have("t", "coder");
  patrol_for(3h);
  EXPECT_EQ(count("warn task t of coder"), 1);
  EXPECT_EQ(count("ping task t of coder"), 1);
  EXPECT_EQ(count("escalate"), 0) << "it shows progress";
  EXPECT_EQ(count("reassign"), 0);
  EXPECT_EQ(task("t").assignee, "coder");
  EXPECT_EQ(letters("coder").size(), 1U) << "one letter until it is acknowledged";
}

TEST_F(PatrolTest, a_claim_of_an_agent_that_failed_is_taken_and_told) {
  family.change = [](AgentFile& file) { file.restart = RestartPolicy::never; };
  family.behaves["coder"] = [](SimSelf& self) {
    talk(self);
    self.after(20min, [](SimSelf& me) { me.exit(1); });
  };
  become_fit();
  keep("coder");
  have("t", "coder");
  patrol_for(45min);
  ASSERT_TRUE(family.over("coder"));
  EXPECT_EQ(count("reassign task t of coder"), 1);
  const Task now = task("t");
  EXPECT_EQ(now.status, "open");
  EXPECT_FALSE(now.assignee);
  EXPECT_EQ(now.fence, 2);
  EXPECT_EQ(beat("t", "coder").did, TaskAnswer::Did::not_claimed) << "it has lost the claim";
  EXPECT_EQ(events("it is open again"), 1);
}

TEST_F(PatrolTest, an_agent_that_ended_well_and_kept_its_claim_is_told_of_and_not_robbed) {
  family.behaves["coder"] = work_for(10min);
  become_fit();
  keep("coder");
  have("t", "coder");
  patrol_for(1h);
  ASSERT_TRUE(family.over("coder"));
  EXPECT_EQ(count("reassign"), 0);
  EXPECT_EQ(count("escalate task t of coder"), 1);
  EXPECT_EQ(task("t").assignee, "coder");
}

TEST_F(PatrolTest, a_name_that_an_agent_had_long_ago_is_no_proof_of_anything) {
  family.change = [](AgentFile& file) { file.restart = RestartPolicy::never; };
  family.behaves["coder"] = [](SimSelf& self) { self.exit(1); };
  keep("coder");
  ASSERT_TRUE(family.over("coder"));
  family.folders.erase("coder");  // somebody else claims by that name
  become_fit();
  have("t", "coder");
  patrol_for(2h);
  EXPECT_EQ(count("reassign"), 0);
  EXPECT_EQ(count("escalate"), 1);
  EXPECT_EQ(task("t").assignee, "coder");
}

TEST_F(PatrolTest, open_work_that_nobody_takes_is_warned_of_once) {
  become_fit();
  add("t");
  patrol_for(2h);
  EXPECT_EQ(count("warn task t"), 1);
  EXPECT_EQ(said.size(), 1U);
}

TEST_F(PatrolTest, many_that_fall_silent_at_once_are_one_incident_and_nobody_is_asked) {
  become_fit();
  for (const char* who : {"a", "b", "c", "d"}) have("of-" + std::string(who), who);
  patrol_for(1h);
  EXPECT_EQ(count("ping"), 0);
  EXPECT_EQ(count("escalate"), 0);
  EXPECT_EQ(count("tell patrol"), 1);
  ASSERT_EQ(notices("silence").size(), 1U);
  EXPECT_FALSE(notices("silence").front().closed);
  for (const char* who : {"a", "b", "c", "d"}) beat("of-" + std::string(who), who);
  patrol_for(4min);
  EXPECT_EQ(count("over patrol"), 1);
  EXPECT_TRUE(notices("silence").empty() || notices("silence").back().closed);
}

// --- Remembering --------------------------------------------------------------------------------

TEST_F(PatrolTest, a_patrol_that_was_killed_goes_on_where_it_was) {
  become_fit();
  have("t", "alice");
  patrol_for(12min);
  ASSERT_EQ(count("ping"), 1);
  begin_anew();
  EXPECT_FALSE(forgotten);
  patrol_for(30min);
  EXPECT_EQ(count("warn"), 1);
  EXPECT_EQ(count("ping"), 1);
  EXPECT_EQ(count("escalate"), 1);
  EXPECT_EQ(letters("alice").size(), 1U);
}

TEST_F(PatrolTest, a_memory_that_was_forged_is_said_and_replaced) {
  become_fit();
  universe.disk.write(std::string(Family::kHome) + "/patrol.json", "{\"version\":1,\"tasks\":7}");
  begin_anew();
  ASSERT_TRUE(forgotten);
  EXPECT_TRUE(forgotten->why.contains("patrol.json")) << forgotten->why;
  EXPECT_EQ(sweep().unfit_because, "the patrol has just begun");
  begin_anew();
  EXPECT_FALSE(forgotten);
}

TEST_F(PatrolTest, what_was_told_by_one_that_forgot_it_is_closed_when_it_is_over) {
  become_fit();
  have("t", "alice");
  patrol_for(20min);
  ASSERT_FALSE(notices("task:t").front().closed);
  universe.disk.remove(std::string(Family::kHome) + "/patrol.json");
  begin_anew();
  patrol_for(5min);
  EXPECT_FALSE(notices("task:t").back().closed) << "it is silent as before";
  beat("t", "alice");
  patrol_for(5min);
  EXPECT_TRUE(notices("task:t").empty() || notices("task:t").back().closed);
}

TEST_F(PatrolTest, an_incident_that_people_were_told_is_over_is_not_gone_on_with_in_silence) {
  const std::string memory = std::string(Family::kHome) + "/patrol.json";
  const auto is_open = [&] {
    return std::ranges::any_of(notices("silence"), [](const Notice& one) { return !one.closed; });
  };
  become_fit();
  for (const char* who : {"a", "b", "c", "d"}) have("of-" + std::string(who), who);
  patrol_for(15min);
  ASSERT_TRUE(is_open());
  const std::string before = universe.disk.read(memory).value_or("");
  for (const char* who : {"a", "b"}) beat("of-" + std::string(who), who);
  patrol_for(5min);
  ASSERT_FALSE(is_open());
  // Its end was told, and then a power cut took back what the patrol knew of it.
  universe.disk.write(memory, before);
  universe.run_for(12min);  // they are all silent again
  begin_anew();
  patrol_for(40min);
  EXPECT_TRUE(is_open() || !letters("a").empty()) << "nobody is asked, and nobody knows why";
}

TEST_F(PatrolTest, a_task_that_people_were_told_is_well_again_is_told_of_anew) {
  const std::string memory = std::string(Family::kHome) + "/patrol.json";
  const auto is_open = [&] {
    return std::ranges::any_of(notices("task:t"), [](const Notice& one) { return !one.closed; });
  };
  family.behaves["coder"] = [](SimSelf& self) {
    self.print(claude_tool("long", R"(,"timeout":7200000)"));
    self.after(45min, [](SimSelf& me) { me.print(claude_tool_closed("long")); });
    self.after(55min, end_well);
  };
  become_fit();
  keep("coder");
  have("t", "coder");
  patrol_for(40min);
  ASSERT_TRUE(is_open());
  const std::string before = universe.disk.read(memory).value_or("");
  patrol_for(10min);
  ASSERT_FALSE(is_open()) << "the call is over, and that is an answer";
  // Its end was told, and then a power cut took back what the patrol knew of it.
  universe.run_for(10min);
  ASSERT_TRUE(family.over("coder"));
  universe.disk.write(memory, before);
  begin_anew();
  const long over_before = count("over");
  patrol_for(40min);
  EXPECT_TRUE(is_open()) << "it holds the task, and nobody knows of that";
  EXPECT_EQ(count("over"), over_before) << "that it is over was said";
}

TEST_F(PatrolTest, a_version_control_that_takes_its_time_makes_nobody_unfit) {
  family.have_repository();
  family.change = [](AgentFile& file) { file.worktree = Family::kWork; };
  family.behaves["coder"] = end_well;
  keep("coder");
  universe.run_for(1min);
  universe.version_control_takes = 20min;
  patrol_for(100min);
  const Instant before = universe.now();
  EXPECT_EQ(sweep().unfit_because, "");
  EXPECT_GE(universe.now() - before, 20min);
}

TEST_F(PatrolTest, a_claim_is_taken_before_version_control_is_asked_which_may_take_long) {
  family.have_repository();
  family.change = [](AgentFile& file) {
    file.worktree = Family::kWork;
    file.restart = RestartPolicy::never;
  };
  family.behaves["coder"] = [](SimSelf& self) { self.exit_after(30s, 1); };
  keep("coder");
  universe.run_for(70min);
  become_fit();
  have("t", "coder");
  patrol_for(4min);
  universe.run_for(3min);
  universe.version_control_takes = 20min;
  std::string soon;
  universe.after(1min, [&] { soon = task("t").status; });
  const Instant before = universe.now();
  sweep();
  EXPECT_GE(universe.now() - before, 20min);
  EXPECT_EQ(soon, "open") << "until then it may have been brought back";
}

TEST_F(PatrolTest, nobody_is_missed_for_the_time_that_the_machine_slept) {
  become_fit();
  have("t", "alice");
  sweep();
  universe.sleep_machine(8h);
  EXPECT_EQ(sweep().unfit_because, "the machine slept");
  EXPECT_TRUE(said.empty()) << said.front();
  EXPECT_EQ(last.silent, 0U);
}

TEST_F(PatrolTest, nobody_is_missed_for_a_step_of_the_calendar) {
  become_fit();
  have("t", "alice");
  sweep();
  universe.step_wall(3h);
  EXPECT_EQ(sweep().unfit_because, "the calendar was set");
  EXPECT_TRUE(said.empty()) << said.front();
}

TEST_F(PatrolTest, nobody_is_missed_for_the_time_that_the_machine_was_off) {
  become_fit();
  have("t", "alice");
  sweep();
  universe.reboot({.lost = SimReboot::Lost::nothing, .takes = 4h});
  Machine& after = universe.machine("patrol after the boot");
  home = after.folders.open(Family::kHome).value();
  items = home_work_items(after, *home);
  Patrol next(after, *home, *items, settings);
  EXPECT_FALSE(next.remember());
  std::optional<Sweep> got;
  next.sweep([&](const Sweep& sweep) {
    got = sweep;
    after.loop.stop();
  });
  after.loop.run();
  EXPECT_EQ(got->unfit_because, "the patrol has just begun");
  EXPECT_EQ(got->silent, 0U);
  EXPECT_TRUE(got->lines.empty());
}

// --- Faults -------------------------------------------------------------------------------------

TEST_F(PatrolTest, what_could_not_be_done_is_said_once_and_done_when_it_can_be) {
  become_fit();
  have("t", "alice");
  patrol_for(9min);
  universe.disk.room = 0;
  universe.run_for(3min);
  for (int i = 0; i < 3; ++i) {
    sweep();
    universe.run_for(10s);
  }
  EXPECT_EQ(count("ping"), 0);
  EXPECT_EQ(count("tell patrol"), 1);
  EXPECT_GT(last.open, 0U);
  universe.disk.room.reset();
  sweep();
  EXPECT_EQ(count("ping"), 1);
  EXPECT_EQ(letters("alice").size(), 1U);
  EXPECT_EQ(last.open, 0U);
}

TEST_F(PatrolTest, a_sweep_without_changes_says_what_it_would_do_and_does_nothing) {
  become_fit();
  have("t", "alice");
  patrol_for(5min);
  universe.run_for(5min + 1s);
  const auto memory = universe.disk.read(std::string(Family::kHome) + "/patrol.json");
  settings.dry = true;
  begin_anew();
  sweep();
  EXPECT_EQ(count("ping task t of alice"), 1);
  EXPECT_TRUE(letters("alice").empty());
  EXPECT_EQ(events("\"ping\""), 0);
  EXPECT_EQ(universe.disk.read(std::string(Family::kHome) + "/patrol.json"), memory);
}

TEST_F(PatrolTest, killed_at_any_call_it_leaves_a_home_in_which_the_next_one_goes_on) {
  for (std::uint64_t call = 1; call < 200; call += 3) {
    const std::string id = "t" + std::to_string(call);
    have(id, "alice" + std::to_string(call));
    universe.run_for(12min);
    struct Killed {
      std::unique_ptr<Folder> home;
      std::unique_ptr<WorkItems> items;
      std::unique_ptr<Patrol> patrol;
    };
    const auto pid = universe.start_program("killed", [&](Machine& theirs) {
      auto killed = std::make_shared<Killed>();
      killed->home = theirs.folders.open(Family::kHome).value();
      killed->items = home_work_items(theirs, *killed->home);
      killed->patrol = std::make_unique<Patrol>(theirs, *killed->home, *killed->items, settings);
      std::ignore = killed->patrol->remember();
      killed->patrol->sweep([](const Sweep&) {});
      return killed;
    });
    universe.kill_at_call(pid, call);
    universe.run_for(1s);
    if (universe.runs(pid)) universe.kill(pid);
    begin_anew();
    ASSERT_FALSE(forgotten) << "call " << call << ": " << forgotten->why;
    sweep();
    ask([&](Database& database) {
      return Tasks(database, {}).close(id, {}, "", true, universe.wall());
    });
  }
}

// --- Beside the tasks ---------------------------------------------------------------------------

TEST_F(PatrolTest, a_keeper_that_died_gets_a_successor) {
  keep("coder");
  family.kill_keepers("coder");
  sweep();
  EXPECT_EQ(count("keeper agent coder"), 1);
  universe.run_for(10s);
  EXPECT_EQ(family.keepers("coder").size(), 1U);
  EXPECT_EQ(family.agents("coder").size(), 1U);
  EXPECT_EQ(events("a new one was put on"), 1);
}

TEST_F(PatrolTest, between_sweeps_only_the_keepers_are_looked_at) {
  keep("coder");
  sweep();
  std::vector<SweepLine> lines;
  EXPECT_FALSE(patrol->look_at_keepers(lines));
  family.kill_keepers("coder");
  EXPECT_TRUE(patrol->look_at_keepers(lines));
  ASSERT_EQ(lines.size(), 1U);
  universe.run_for(5s);
  EXPECT_FALSE(patrol->look_at_keepers(lines));
  EXPECT_EQ(family.keepers("coder").size(), 1U);
}

TEST_F(PatrolTest, a_keeper_that_hangs_is_ended_and_gets_a_successor_and_its_agent_lives_on) {
  keep("coder");
  sweep();
  const auto agent = family.agents("coder");
  universe.pause(family.keepers("coder").front());
  universe.run_for(3min);
  sweep();
  universe.run_for(1s);
  sweep();
  universe.run_for(10s);
  EXPECT_EQ(count("keeper agent coder"), 2) << "ended, and another one put on";
  EXPECT_EQ(family.keepers("coder").size(), 1U);
  EXPECT_EQ(family.agents("coder"), agent);
}

TEST_F(PatrolTest,
       a_keeper_that_is_stopped_for_much_too_long_is_ended_by_a_patrol_that_just_began) {
  keep("coder");
  const auto before = family.keepers("coder");
  universe.pause(before.front());
  universe.run_for(11min);
  EXPECT_TRUE(sweep().keepers_again);
  EXPECT_EQ(count("keeper"), 0) << "it may just go on";
  std::vector<SweepLine> lines;
  universe.run_for(2s);
  EXPECT_TRUE(patrol->look_at_keepers(lines));
  universe.run_for(2s);
  EXPECT_TRUE(patrol->look_at_keepers(lines));
  EXPECT_EQ(lines.size(), 2U) << "ended, and another one put on";
  universe.run_for(10s);
  EXPECT_EQ(family.keepers("coder").size(), 1U);
  EXPECT_NE(family.keepers("coder"), before);
  EXPECT_EQ(family.agents("coder").size(), 1U);
}

TEST_F(PatrolTest, a_keeper_that_goes_on_before_the_second_look_is_left_alone) {
  keep("coder");
  const auto before = family.keepers("coder");
  universe.pause(before.front());
  universe.run_for(11min);
  EXPECT_TRUE(sweep().keepers_again);
  universe.go_on(before.front());
  std::vector<SweepLine> lines;
  universe.run_for(2s);
  EXPECT_FALSE(patrol->look_at_keepers(lines));
  EXPECT_EQ(family.keepers("coder"), before);
}

TEST_F(PatrolTest, patrols_that_make_one_sweep_each_see_together_that_a_keeper_hangs) {
  keep("coder");
  sweep();
  const auto before = family.keepers("coder");
  universe.pause(before.front());
  universe.run_for(1min);
  begin_anew();
  EXPECT_FALSE(sweep().keepers_again) << "it was seen a minute ago";
  universe.run_for(3min);
  begin_anew();
  EXPECT_TRUE(sweep().keepers_again);
  std::vector<SweepLine> lines;
  universe.run_for(2s);
  EXPECT_TRUE(patrol->look_at_keepers(lines));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines.front().why, "its keeper hung and was ended");
}

TEST_F(PatrolTest, a_patrol_that_just_began_ends_nobody_for_a_sleep_or_a_step_of_the_calendar) {
  keep("coder");
  const auto before = family.keepers("coder");
  universe.step_wall(1h);
  EXPECT_FALSE(sweep().keepers_again);
  universe.run_for(1min);
  universe.pause(before.front());
  universe.sleep_machine(2h);
  begin_anew();
  EXPECT_FALSE(sweep().keepers_again);
  universe.go_on(before.front());
  universe.run_for(1min);
  EXPECT_EQ(family.keepers("coder"), before);
}

TEST_F(PatrolTest, where_all_keepers_hang_nobody_is_ended_and_it_is_told_once) {
  for (const char* name : {"a", "b", "c"}) keep(name);
  sweep();
  for (const char* name : {"a", "b", "c"}) universe.pause(family.keepers(name).front());
  universe.run_for(3min);
  sweep();
  universe.run_for(3min);
  sweep();
  EXPECT_EQ(count("keeper"), 0);
  EXPECT_EQ(count("tell patrol"), 1);
  EXPECT_EQ(notices("keepers").size(), 1U);
  for (const char* name : {"a", "b", "c"}) universe.go_on(family.keepers(name).front());
  universe.run_for(1min);
  sweep();
  EXPECT_EQ(count("over patrol"), 1);
  EXPECT_EQ(last.open, 0U);
}

TEST_F(PatrolTest, keepers_that_die_again_and_again_are_told_of) {
  keep("coder");
  sweep();
  family.cannot_be_kept["coder"] = true;
  family.kill_keepers("coder");
  for (int i = 0; i < 8; ++i) {
    sweep();
    universe.run_for(10s);
  }
  EXPECT_EQ(count("keeper agent coder"), 5);
  EXPECT_EQ(count("tell patrol"), 1);
  EXPECT_EQ(notices("keeper:coder").size(), 1U);
  EXPECT_EQ(last.open, 1U);
}

TEST_F(PatrolTest, an_agent_that_is_over_needs_no_keeper) {
  family.behaves["coder"] = end_well;
  keep("coder");
  universe.run_for(1min);
  ASSERT_TRUE(family.over("coder"));
  sweep();
  EXPECT_TRUE(said.empty()) << said.front();
  EXPECT_TRUE(family.keepers("coder").empty());
}

TEST_F(PatrolTest, agents_of_an_earlier_boot_are_left_to_tend_recover_and_told_of) {
  keep("coder");
  universe.reboot();
  Machine& after = universe.machine("patrol after the boot");
  auto folder = after.folders.open(Family::kHome).value();
  auto tasks = home_work_items(after, *folder);
  Patrol next(after, *folder, *tasks, settings);
  std::optional<Sweep> got;
  next.sweep([&](const Sweep& sweep) {
    got = sweep;
    after.loop.stop();
  });
  after.loop.run();
  ASSERT_EQ(got->lines.size(), 1U);
  EXPECT_TRUE(got->lines.front().why.contains("coder")) << got->lines.front().why;
  EXPECT_EQ(got->lines.front().result, "tend recover");
  EXPECT_TRUE(family.keepers("coder").empty());
}

TEST_F(PatrolTest, an_inbox_that_nobody_read_is_told_of_after_an_hour_once) {
  family.behaves["coder"] = end_well;
  keep("coder");
  universe.run_for(1min);
  ASSERT_TRUE(family.over("coder"));
  const auto folder = machine.folders.open(family.folders.at("coder"));
  ASSERT_TRUE(append_message(**folder, {.id = 0, .at = 1, .kind = "note", .text = "hear"}));
  sweep();
  EXPECT_TRUE(said.empty()) << said.front();
  universe.run_for(61min);
  sweep();
  sweep();
  EXPECT_EQ(count("tell patrol"), 1);
  EXPECT_EQ(notices("unread").size(), 1U);
  ASSERT_TRUE(mark_read(**folder, 1));
  sweep();
  EXPECT_EQ(count("over patrol"), 1);
}

TEST_F(PatrolTest, saved_work_in_a_repository_is_told_of_after_an_hour_until_it_is_gone) {
  family.have_repository();
  family.change = [](AgentFile& file) { file.worktree = Family::kWork; };
  family.behaves["coder"] = end_well;
  family.behaves["tester"] = end_well;
  keep("coder");
  keep("tester");
  universe.run_for(1min);
  ASSERT_TRUE(family.over("coder") && family.over("tester"));
  auto& refs = universe.repositories[Family::kWork].refs;
  refs["refs/tend/coder/1"] = {.id = "c1",
                               .message = "Work of coder, life 1\n\nstopped",
                               .files = {},
                               .at = universe.wall()};
  refs["refs/tend/tester/1"] = {.id = "c2",
                                .message = "Work of tester, life 1\n\nstopped",
                                .files = {},
                                .at = universe.wall() - 24h};
  sweep();
  EXPECT_TRUE(said.empty()) << said.front();
  universe.run_for(61min);
  sweep();
  sweep();
  EXPECT_EQ(count("tell patrol"), 1);
  EXPECT_EQ(events("saved work of coder in /home/user/work"), 1);
  EXPECT_EQ(events("saved work of tester"), 0) << "that of one before it, with the same name";
  refs.clear();
  sweep();
  EXPECT_EQ(count("over patrol"), 1);
}

TEST_F(PatrolTest, notices_that_were_given_up_are_told_of_where_people_look) {
  ask([&](Database& database) -> Result<bool> {
    Outbox outbox(database, {.most_tries = 1});
    std::ignore = outbox.put("phone", "k", "{}", universe.wall());
    const auto taken = outbox.take(1, universe.wall(), 1min);
    std::ignore = outbox.failed(taken->notice, "no route", universe.wall(), 0);
    return true;
  });
  sweep();
  sweep();
  EXPECT_EQ(count("tell patrol"), 1);
  EXPECT_EQ(events("notices were given up"), 1);
  EXPECT_TRUE(notices("outbox").empty());
  EXPECT_EQ(last.open, 1U);
}

TEST_F(PatrolTest, an_idle_agent_is_noted_while_work_waits) {
  family.behaves["coder"] = rest;
  keep("coder");
  universe.run_for(10min);
  sweep();
  EXPECT_TRUE(said.empty()) << said.front();
  add("t");
  sweep();
  sweep();
  EXPECT_EQ(count("note patrol"), 1);
  EXPECT_EQ(last.open, 0U);
}

TEST_F(PatrolTest, letters_are_dropped_a_month_after_they_were_acknowledged_and_never_before_it) {
  const auto send = [&](const std::string& subject) {
    ask([&](Database& database) {
      Letter letter;
      letter.from = "alice";
      letter.to = "bob";
      letter.subject = subject;
      return Mailbox(database).send(letter, universe.wall());
    });
  };
  send("read");
  send("left");
  acknowledge(letters("bob").front());
  sweep();
  EXPECT_EQ(letters("bob").size(), 2U);
  universe.run_for(31 * 24h);
  sweep();
  ASSERT_EQ(letters("bob").size(), 1U);
  EXPECT_EQ(letters("bob").front().subject, "left");
}

TEST_F(PatrolTest, letters_that_wait_for_an_hour_are_told_of) {
  ask([&](Database& database) {
    Letter letter;
    letter.from = "coder";
    letter.to = "alice";
    letter.subject = "which one?";
    return Mailbox(database).send(letter, universe.wall());
  });
  sweep();
  EXPECT_TRUE(said.empty());
  universe.run_for(61min);
  sweep();
  EXPECT_EQ(count("tell patrol"), 1);
  EXPECT_EQ(notices("mail").size(), 1U);
}

}  // namespace
}  // namespace tend
