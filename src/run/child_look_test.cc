// What is known of a child from its folder, whatever state that and the machine are in.
#include "run/child_look.h"

#include <chrono>
#include <string>

#include "run/family_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class ChildLook : public FamilyTest {
 protected:
  ChildFacts look(ChildKeeper keeper = ChildKeeper::none) {
    const auto folder = universe.machine().folders.open(family.folders.at("coder"));
    return facts_of(universe.machine(), folder ? folder->get() : nullptr, keeper, seen);
  }
  /// Its parent's keeper is killed first, so that nobody brings it back.
  void leave_alone() { family.kill_keepers("lead"); }
  void write_intent_of(const std::string& by) {
    const auto folder = universe.machine().folders.open(family.folders.at("coder"));
    ASSERT_TRUE(write_intent(**folder, {.want = Want::stop, .by = by, .at = 1}));
  }
  std::uint64_t calls() { return universe.calls(universe.pids("test").front()); }

  ChildSeen seen;
};

// --- Its folder ----------------------------------------------------------------------------------

TEST_F(ChildLook, knows_nothing_of_one_whose_folder_is_gone) {
  family.folders["coder"] = "/home/user/tend/sessions/gone";
  const ChildFacts facts = look();
  EXPECT_FALSE(facts.folder);
  EXPECT_FALSE(facts.agent_file);
  EXPECT_EQ(facts.unreadable, "");
}

TEST_F(ChildLook, knows_that_a_folder_is_no_agents) {
  grow({"coder"});
  universe.disk.remove(family.path("coder", "agent.json"));
  const ChildFacts facts = look(ChildKeeper::alive);
  EXPECT_TRUE(facts.folder);
  EXPECT_FALSE(facts.agent_file);
  EXPECT_EQ(facts.unreadable, "");
}

TEST_F(ChildLook, says_what_it_cannot_read) {
  grow({"coder"});
  const std::string agent = family.text_of("coder", "agent.json");
  universe.disk.write(family.path("coder", "agent.json"), "{");
  EXPECT_NE(look().unreadable, "");
  universe.disk.write(family.path("coder", "agent.json"), agent);
  universe.disk.make_unreadable(family.path("coder", ".heartbeat"));
  const ChildFacts facts = look();
  EXPECT_NE(facts.unreadable, "");
  EXPECT_TRUE(facts.agent_file);
  EXPECT_EQ(plan_for(facts).bucket, Bucket::unknown);
}

TEST_F(ChildLook, knows_one_that_was_only_requested) {
  family.root("lead");
  universe.run_for(5s);
  leave_alone();
  family.dispatch("lead", "coder");
  const ChildFacts facts = look();
  EXPECT_TRUE(facts.agent_file);
  EXPECT_FALSE(facts.heartbeat);
  EXPECT_FALSE(facts.started);
  EXPECT_EQ(facts.process, ProcessIs::none);
  EXPECT_TRUE(facts.wanted);
  EXPECT_EQ(plan_for(facts).bucket, Bucket::start);
}

TEST_F(ChildLook, reads_what_has_not_changed_only_once) {
  grow({"coder"});
  const std::uint64_t before = calls();
  look(ChildKeeper::alive);
  const std::uint64_t first = calls() - before;
  look(ChildKeeper::alive);
  EXPECT_LT(calls() - before - first, first);
  EXPECT_EQ(seen.says.life, 1U);
  leave_alone();
  family.order("coder", Want::stop, false);
  universe.run_for(30s);
  EXPECT_EQ(look().end, ChildEnd::stopped) << "what has changed is read again";
}

// --- Its process ---------------------------------------------------------------------------------

TEST_F(ChildLook, looks_at_nothing_else_of_one_that_is_kept) {
  grow({"coder"});
  const ChildFacts facts = look(ChildKeeper::alive);
  EXPECT_TRUE(facts.heartbeat);
  EXPECT_TRUE(facts.started);
  EXPECT_EQ(facts.end, ChildEnd::none);
  EXPECT_EQ(facts.process, ProcessIs::none) << "nobody asked";
  EXPECT_EQ(plan_for(facts).bucket, Bucket::adopt);
}

TEST_F(ChildLook, sees_a_process_that_lives_on_without_its_keeper) {
  grow({"coder"});
  leave_alone();
  family.kill_keepers("coder");
  EXPECT_EQ(look().process, ProcessIs::alive);
  EXPECT_TRUE(look().of_this_boot);
  universe.pause(family.agents("coder").front());
  EXPECT_EQ(look().process, ProcessIs::alive) << "stopped is not gone";
  EXPECT_EQ(plan_for(look()).bucket, Bucket::attach);
}

TEST_F(ChildLook, sees_that_a_process_is_gone) {
  grow({"coder"});
  leave_alone();
  const auto pid = family.agents("coder").front();
  family.kill_both("coder");
  universe.run_for(1s);
  EXPECT_EQ(look().process, ProcessIs::gone);
  universe.next_pid = pid;
  ASSERT_EQ(universe.start_process("another"), pid);
  EXPECT_EQ(look().process, ProcessIs::gone) << "the number is another's by now";
}

TEST_F(ChildLook, sees_that_a_process_is_of_an_earlier_boot) {
  grow({"coder"});
  universe.reboot();
  const ChildFacts facts = look();
  EXPECT_EQ(facts.process, ProcessIs::gone);
  EXPECT_FALSE(facts.of_this_boot);
  EXPECT_EQ(plan_for(facts).bucket, Bucket::resume);
}

TEST_F(ChildLook, does_not_take_one_for_gone_that_cannot_be_looked_at) {
  grow({"coder"});
  leave_alone();
  family.kill_keepers("coder");
  universe.looking_fails = "Operation not permitted";
  EXPECT_EQ(look().process, ProcessIs::unknown);
}

TEST_F(ChildLook, does_not_take_the_keeper_before_the_first_life_for_the_agent) {
  family.root("lead");
  universe.run_for(5s);
  leave_alone();
  family.dispatch("lead", "coder");
  Heartbeat says;
  says.keeper = universe.machine().processes.self();
  says.process = says.keeper;
  universe.disk.write(family.path("coder", ".heartbeat"), format_heartbeat(says));
  const ChildFacts facts = look();
  EXPECT_TRUE(facts.heartbeat);
  EXPECT_FALSE(facts.started);
  EXPECT_EQ(facts.process, ProcessIs::none);
}

// --- What is wanted of it ------------------------------------------------------------------------

TEST_F(ChildLook, knows_whether_it_is_wanted) {
  grow({"coder"});
  leave_alone();
  family.kill_both("coder");
  universe.run_for(1s);
  EXPECT_TRUE(look().wanted);
  write_intent_of("tend stop");
  EXPECT_FALSE(look().wanted);
  write_intent_of(std::string(kShutdownWords));
  EXPECT_TRUE(look().wanted) << "it goes on when the machine is back";
}

TEST_F(ChildLook, knows_where_its_work_is) {
  family.have_merging_child("coder");
  grow({"coder"});
  universe.run_for(1min);
  ChildFacts facts = look();
  EXPECT_EQ(facts.end, ChildEnd::done);
  EXPECT_TRUE(facts.own_worktree);
  EXPECT_TRUE(facts.worktree_there);
  EXPECT_EQ(plan_for(facts).bucket, Bucket::merge);
  universe.disk.remove(seen.agent->worktree);
  facts = look();
  EXPECT_FALSE(facts.worktree_there);
  EXPECT_EQ(plan_for(facts).bucket, Bucket::tell);
}

TEST_F(ChildLook, knows_that_it_gives_its_parent_up) {
  grow({"coder"});
  Heartbeat says = family.heartbeat("coder");
  says.leaving = true;
  leave_alone();
  family.kill_keepers("coder");
  universe.disk.write(family.path("coder", ".heartbeat"), format_heartbeat(says));
  const ChildFacts facts = look(ChildKeeper::alive);
  EXPECT_TRUE(facts.leaving);
  EXPECT_EQ(plan_for(facts).bucket, Bucket::wait);
}

// --- Ends and verdicts ---------------------------------------------------------------------------

Heartbeat ended(Status status, WorkOutcome outcome, const std::string& by = "") {
  Heartbeat says;
  says.status = status;
  says.outcome = outcome;
  says.ended_by = by;
  return says;
}

TEST(ChildEnds, are_what_a_parent_cares_for) {
  const auto of = [](WorkOutcome outcome, const std::string& by = "") {
    return child_end_of(ended(Status::withdrawn, outcome, by));
  };
  EXPECT_EQ(child_end_of(Heartbeat{}), ChildEnd::none);
  EXPECT_EQ(child_end_of(ended(Status::running, WorkOutcome::done)), ChildEnd::none);
  EXPECT_EQ(of(WorkOutcome::done), ChildEnd::done);
  EXPECT_EQ(of(WorkOutcome::withdrawn), ChildEnd::withdrawn);
  EXPECT_EQ(of(WorkOutcome::escalated), ChildEnd::withdrawn);
  EXPECT_EQ(of(WorkOutcome::orphaned), ChildEnd::orphaned);
  EXPECT_EQ(of(WorkOutcome::failed), ChildEnd::failed);
  EXPECT_EQ(of(WorkOutcome::stopped, "tend stop"), ChildEnd::stopped);
  EXPECT_EQ(of(WorkOutcome::stopped, std::string(kShutdownWords)), ChildEnd::shutdown);
}

TEST(ChildEnds, are_read_from_the_status_where_another_system_wrote_no_outcome) {
  EXPECT_EQ(child_end_of(ended(Status::completed, WorkOutcome::none)), ChildEnd::done);
  EXPECT_EQ(child_end_of(ended(Status::withdrawn, WorkOutcome::none)), ChildEnd::withdrawn);
}

TEST(ChildVerdicts, of_one_that_is_over_say_how_it_ended) {
  for (const ChildKeeper keeper : {ChildKeeper::none, ChildKeeper::alive, ChildKeeper::hung}) {
    const auto of = [&](WorkOutcome outcome) {
      return child_verdict_of(ended(Status::completed, outcome), keeper);
    };
    EXPECT_EQ(of(WorkOutcome::done), Verdict::finished);
    EXPECT_EQ(of(WorkOutcome::orphaned), Verdict::orphaned);
    EXPECT_EQ(of(WorkOutcome::failed), Verdict::dead);
    EXPECT_EQ(of(WorkOutcome::withdrawn), Verdict::dead);
    EXPECT_EQ(of(WorkOutcome::stopped), Verdict::dead);
  }
}

TEST(ChildVerdicts, of_one_that_lives_count_only_while_a_keeper_stands_by_them) {
  Heartbeat says = ended(Status::running, WorkOutcome::none);
  says.life = 1;
  says.verdict = Verdict::working;
  EXPECT_EQ(child_verdict_of(says, ChildKeeper::alive), Verdict::working);
  EXPECT_EQ(child_verdict_of(says, ChildKeeper::none), Verdict::unknown);
  EXPECT_EQ(child_verdict_of(says, ChildKeeper::hung), Verdict::unknown);
  says.life = 0;
  EXPECT_EQ(child_verdict_of(says, ChildKeeper::alive), Verdict::starting);
}

TEST(ChildVerdicts, of_one_in_trouble_that_was_left_to_a_person_are_waiting) {
  Heartbeat says = ended(Status::running, WorkOutcome::none);
  says.life = 2;
  for (const Verdict verdict : {Verdict::stalled, Verdict::looping, Verdict::unknown}) {
    says.verdict = verdict;
    says.person_told = false;
    EXPECT_EQ(child_verdict_of(says, ChildKeeper::alive), verdict);
    says.person_told = true;
    EXPECT_EQ(child_verdict_of(says, ChildKeeper::alive), Verdict::waiting);
    EXPECT_EQ(child_verdict_of(says, ChildKeeper::none), Verdict::unknown);
  }
}

TEST(ChildVerdicts, of_one_in_doubt_are_work_as_long_as_its_keeper_stands_by_it) {
  Heartbeat says = ended(Status::running, WorkOutcome::none);
  says.life = 1;
  says.verdict = Verdict::suspect;
  EXPECT_EQ(child_verdict_of(says, ChildKeeper::alive), Verdict::working);
  EXPECT_EQ(child_verdict_of(says, ChildKeeper::none), Verdict::unknown);
}

TEST(ChildVerdicts, of_one_between_two_lives_are_a_start) {
  Heartbeat says = ended(Status::running, WorkOutcome::none);
  says.life = 1;
  says.verdict = Verdict::dead;
  EXPECT_EQ(child_verdict_of(says, ChildKeeper::alive), Verdict::starting);
}

TEST(ChildVerdicts, of_one_that_waits_for_its_own_children_are_not_the_end) {
  Heartbeat says = ended(Status::running, WorkOutcome::none);
  says.life = 1;
  says.verdict = Verdict::finished;
  says.children = 2;
  EXPECT_EQ(child_verdict_of(says, ChildKeeper::alive), Verdict::waiting);
  says.children = 0;
  EXPECT_EQ(child_verdict_of(says, ChildKeeper::alive), Verdict::finished);
}

TEST_F(ChildLook, at_half_a_heartbeat_goes_by_the_record_of_its_keeper) {
  grow({"coder"});
  leave_alone();
  family.kill_both("coder");
  universe.disk.write(family.path("coder", ".heartbeat"), R"({"pid":10)");
  const ChildFacts facts = look();
  EXPECT_EQ(facts.unreadable, "");
  EXPECT_TRUE(facts.started);
  EXPECT_EQ(facts.process, ProcessIs::gone);
  EXPECT_EQ(plan_for(facts).bucket, Bucket::resume);
}

TEST_F(ChildLook, at_half_a_heartbeat_and_no_record_brings_back_only_one_of_which_nothing_runs) {
  grow({"coder"});
  leave_alone();
  family.kill_keepers("coder");
  universe.disk.write(family.path("coder", ".heartbeat"), R"({"pid":10)");
  universe.disk.write(family.path("coder", ".lock"), "");
  EXPECT_EQ(plan_for(look()).bucket, Bucket::unknown);
  family.kill_both("coder");
  EXPECT_EQ(plan_for(look()).bucket, Bucket::resume);
  universe.looking_fails = "Permission denied";
  EXPECT_EQ(plan_for(look()).bucket, Bucket::unknown);
}

}  // namespace
}  // namespace tend
