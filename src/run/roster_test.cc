// Who needs you: agents on a simulated machine, and what the roster makes of them.
#include "run/roster.h"

#include <chrono>
#include <string>

#include "run/kept_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

void work(SimSelf& self) {
  self.every(1s, [n = 0](SimSelf& me) mutable { me.print("line " + std::to_string(++n) + "\n"); });
}

std::vector<Entry> roster_of(Kept& kept) {
  Machine& machine = kept.universe.machine("reader");
  const auto home = machine.folders.open(Kept::kHome);
  EXPECT_TRUE(home);
  auto entries = roster(machine, **home);
  EXPECT_TRUE(entries);
  return *std::move(entries);
}

Entry only(Kept& kept) {
  auto entries = roster_of(kept);
  EXPECT_EQ(entries.size(), 1U);
  return std::move(entries.front());
}

TEST(Roster, of_a_home_without_agents_is_empty) {
  Kept kept;
  EXPECT_TRUE(roster_of(kept).empty());
}

TEST(Roster, says_what_is_true_now_and_what_comes_next) {
  Kept kept;
  kept.be_patient_as_with_an_agent();
  kept.universe.behaviours["worker"] = [](SimSelf& self) { self.print_after(1s, "hello\n"); };
  kept.start_keeper();
  kept.universe.run_for(101s);
  const Entry entry = only(kept);
  EXPECT_EQ(entry.group, Group::working);
  EXPECT_EQ(entry.keeper, KeeperIs::alive);
  EXPECT_EQ(entry.state, "working");
  EXPECT_EQ(entry.why, "last real sign 100 s ago (limit 720 s)");
  EXPECT_EQ(entry.next, "suspect: a warning is written, it is asked for a sign");
  EXPECT_EQ(entry.next_at - kept.universe.wall(), 620s);
  EXPECT_EQ(entry.handle, "worker-s1");
  EXPECT_EQ(entry.to_do, "");
}

TEST(Roster, knows_when_work_last_went_on) {
  Kept kept;
  kept.be_patient_as_with_an_agent();
  kept.universe.behaviours["worker"] = [](SimSelf& self) { self.print_after(1s, "hello\n"); };
  kept.start_keeper();
  kept.universe.run_for(500ms);
  EXPECT_FALSE(only(kept).progressed) << "nothing was seen of it";
  kept.universe.run_for(100s);
  const Entry entry = only(kept);
  ASSERT_TRUE(entry.progressed);
  EXPECT_NEAR(calendar_seconds(kept.universe.wall()) - calendar_seconds(*entry.progressed), 99.5,
              0.1);
}

TEST(Roster, knows_which_children_wait_for_their_parent) {
  Kept kept;
  kept.universe.behaviours["worker"] = work;
  kept.start_keeper();
  kept.universe.run_for(5s);
  const std::string journal = kept.text_of("journal.jsonl");
  const std::size_t last = journal.rfind(R"({"t":)");
  const std::string time = journal.substr(last, journal.find(',', last) - last);
  for (const char* told :
       {R"("coder","verdict":"waiting","for":"parent"})", R"("tester","verdict":"waiting"})"}) {
    kept.universe.disk.append(kept.path("journal.jsonl"),
                              time + R"(,"is":"child","child":)" + told + "\n");
  }
  EXPECT_EQ(only(kept).asked_by, std::vector<Name>{Name("coder")});
}

TEST(Roster, takes_a_heartbeat_for_void_once_its_keeper_is_gone) {
  Kept kept;
  kept.universe.behaviours["worker"] = work;
  kept.start_keeper();
  kept.universe.run_for(5s);
  kept.universe.kill(kept.keeper);
  const Entry entry = only(kept);
  EXPECT_EQ(entry.group, Group::needs_you);
  EXPECT_EQ(entry.keeper, KeeperIs::gone);
  EXPECT_EQ(entry.state, "no keeper");
  EXPECT_EQ(entry.verdict, Verdict::unknown);
  EXPECT_EQ(entry.process, RunState::running);
  EXPECT_EQ(entry.to_do, "tend run -d --attach worker-s1");
}

TEST(Roster, asks_the_system_whether_an_agent_without_a_keeper_lives) {
  Kept kept;
  kept.universe.behaviours["worker"] = work;
  kept.start_keeper();
  kept.universe.run_for(5s);
  kept.universe.kill(kept.keeper);
  kept.universe.signal(kept.workers().front(), Kill::kill);
  kept.universe.run_for(1s);
  const Entry entry = only(kept);
  EXPECT_EQ(entry.state, "no keeper");
  EXPECT_NE(entry.process, RunState::running);
  EXPECT_EQ(entry.why, "its keeper is gone, and so is its process");
}

TEST(Roster, sees_that_a_keeper_hangs) {
  Kept kept;
  kept.universe.behaviours["worker"] = work;
  kept.start_keeper();
  kept.universe.run_for(5s);
  kept.universe.pause(kept.keeper);
  kept.universe.run_for(100s);
  EXPECT_EQ(only(kept).keeper, KeeperIs::alive);
  kept.universe.run_for(200s);
  const Entry entry = only(kept);
  EXPECT_EQ(entry.keeper, KeeperIs::hung);
  EXPECT_EQ(entry.state, "keeper hangs");
  EXPECT_EQ(entry.group, Group::needs_you);
}

TEST(Roster, gives_an_agent_that_was_just_asked_for_a_moment_to_start) {
  Kept kept;
  kept.universe.disk.write(kept.path("agent.json"), format_agent_file(kept.agent));
  EXPECT_EQ(only(kept).state, "starting");
  EXPECT_EQ(only(kept).group, Group::working);
  kept.universe.run_for(11s);
  EXPECT_EQ(only(kept).state, "no keeper");
  EXPECT_EQ(only(kept).group, Group::needs_you);
}

TEST(Roster, wants_a_person_for_one_that_failed_but_only_for_a_day) {
  Kept kept;
  kept.universe.behaviours["worker"] = [](SimSelf& self) { self.exit_after(5s, 3); };
  kept.start_keeper();
  kept.universe.run_for(60s);
  const Entry entry = only(kept);
  EXPECT_EQ(entry.state, "failed");
  EXPECT_EQ(entry.group, Group::needs_you);
  EXPECT_EQ(entry.why, "exit 3");
  EXPECT_EQ(entry.to_do, "tend logs worker-s1");
  kept.universe.run_for(25h);
  EXPECT_EQ(only(kept).group, Group::done);
}

TEST(Roster, wants_nobody_for_a_failure_that_another_of_its_name_followed) {
  Kept kept;
  kept.universe.behaviours["worker"] = [](SimSelf& self) { self.exit_after(5s, 3); };
  kept.start_keeper();
  kept.universe.run_for(60s);
  kept.universe.disk.make_folder("/home/user/tend/sessions/s2");
  AgentFile again = kept.agent;
  again.session = "s2";
  kept.universe.disk.write("/home/user/tend/sessions/s2/agent.json", format_agent_file(again));
  const auto entries = roster_of(kept);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].group, Group::done);
  EXPECT_EQ(entries[0].handle, "s1");
  EXPECT_EQ(entries[1].handle, "worker-s1");
}

TEST(Roster, counts_a_good_end_as_done) {
  Kept kept;
  kept.universe.behaviours["worker"] = [](SimSelf& self) { self.exit_after(5s, 0); };
  kept.start_keeper();
  kept.universe.run_for(60s);
  const Entry entry = only(kept);
  EXPECT_EQ(entry.state, "done");
  EXPECT_EQ(entry.group, Group::done);
  EXPECT_LE(kept.universe.wall() - entry.since, 56s);
}

TEST(Roster, wants_a_person_for_one_that_loops) {
  Kept kept;
  kept.be_patient_as_with_an_agent();
  kept.universe.behaviours["worker"] = [](SimSelf& self) {
    self.print_after(1s, "hello\n");
    self.exit_after(2s, 1);
  };
  kept.start_keeper();
  kept.universe.run_for(120s);
  const Entry entry = only(kept);
  EXPECT_EQ(entry.state, "looping");
  EXPECT_EQ(entry.group, Group::needs_you);
  EXPECT_EQ(entry.to_do, "tend unpause worker-s1");
  EXPECT_NE(entry.next, "");
}

TEST(Roster, wants_a_person_for_one_that_says_it_is_stuck) {
  Kept kept;
  kept.universe.behaviours["worker"] = work;
  kept.start_keeper();
  kept.universe.run_for(5s);
  EXPECT_EQ(only(kept).group, Group::working);
  kept.universe.disk.write(kept.path("signals.jsonl"), R"({"is":"state","state":"stuck","life":1})"
                                                       "\n");
  kept.universe.run_for(500ms);
  const Entry entry = only(kept);
  EXPECT_EQ(entry.why, "says it is stuck");
  EXPECT_EQ(entry.group, Group::needs_you);
  EXPECT_EQ(entry.to_do, "tend logs worker-s1");
}

TEST(Roster, names_those_that_are_over_by_the_newest_of_a_name) {
  Kept kept;
  kept.universe.behaviours["worker"] = [](SimSelf& self) { self.exit_after(5s, 3); };
  kept.start_keeper();
  kept.universe.run_for(60s);
  Heartbeat older = kept.heartbeat();
  older.started -= 1000;
  kept.universe.disk.make_folder("/home/user/tend/sessions/s2");
  kept.universe.disk.write("/home/user/tend/sessions/s2/.heartbeat", format_heartbeat(older));
  const auto entries = roster_of(kept);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].handle, "worker-s1");
  EXPECT_EQ(entries[0].group, Group::needs_you);
  EXPECT_EQ(entries[1].handle, "s2");
  EXPECT_EQ(entries[1].group, Group::done);
}

TEST(Roster, names_the_parent_of_a_child) {
  Kept kept;
  kept.universe.behaviours["worker"] = work;
  kept.start_keeper();
  kept.universe.run_for(5s);
  const std::string below = kept.path("coding/c1");
  kept.universe.disk.make_folder(kept.path("coding"));
  kept.universe.disk.make_folder(below);
  Heartbeat child;
  child.agent = "lint";
  child.session = "s1";
  child.parent_heartbeat = kept.path(".heartbeat");
  child.status = Status::completed;
  child.outcome = WorkOutcome::done;
  kept.universe.disk.write(below + "/.heartbeat", format_heartbeat(child));
  const auto entries = roster_of(kept);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[1].parent, 0U);
  EXPECT_EQ(entries[1].depth, 1);
}

TEST(Roster, shows_what_cannot_be_read_instead_of_leaving_it_out) {
  Kept kept;
  kept.universe.disk.write(kept.path(".heartbeat"), "no JSON");
  const Entry entry = only(kept);
  EXPECT_EQ(entry.state, "unreadable");
  EXPECT_EQ(entry.group, Group::needs_you);
  EXPECT_NE(entry.why, "");
}

}  // namespace
}  // namespace tend
