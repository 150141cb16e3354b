// `tend merge`: what a lead types while it runs, and what is refused.
#include "app/merge_command.h"

#include <chrono>
#include <string>

#include "app/growing_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class MergeCommand : public Growing {
 protected:
  using Lines = std::vector<std::string>;

  MergeCommand() { family.have_merging_child("coder"); }
  /// The child has ended well, its lead works on.
  void grow() {
    start_lead();
    family.dispatch("lead", "coder");
    universe.run_for(2min);
    ASSERT_EQ(children_of("lead"), std::vector<std::string>{"coder unmerged"});
  }
  Answer merge(Words more = {}) {
    more.insert(more.begin(), {"merge", "coder"});
    return tend_in("lead", more);
  }
  SimRepository& work() { return universe.repositories[Family::kWork]; }
  [[nodiscard]] std::string worktree() const {
    return std::string(Family::kHome) + "/worktrees/coder";
  }
  std::string file(const std::string& name) {
    return universe.disk.read(std::string(Family::kWork) + "/" + name).value_or("");
  }
  /// The child has ended well while nobody kept its lead.
  void grow_without_keeper() {
    start_lead();
    family.dispatch("lead", "coder");
    universe.run_for(10s);
    family.cannot_be_kept["lead"] = true;
    family.kill_keepers("lead");
    universe.run_for(1min);
    ASSERT_TRUE(family.over("coder"));
    ASSERT_EQ(children_of("lead"), std::vector<std::string>{"coder active"});
  }
  void keep_lead_again() {
    family.cannot_be_kept["lead"] = false;
    family.put_keeper_on("lead");
    universe.run_for(1min);
  }
  /// What its lead was told of the end of the child.
  std::vector<std::string> told_of_end() {
    auto told = family.inbox("lead");
    std::erase_if(told, [](const std::string& line) { return !line.starts_with("child-done: "); });
    return told;
  }
  void change_in_work(const std::string& name, const std::string& text) {
    universe.disk.write(std::string(Family::kWork) + "/" + name, text);
  }
};

TEST_F(MergeCommand, brings_the_work_home_and_settles_the_child) {
  grow();
  const Answer answer = merge();
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_EQ(answer.out, "coder: merged as " + work().commit.substr(0, 7) + "\n");
  EXPECT_EQ(file("b"), "of coder");
  EXPECT_EQ(family.merges(), 1);
  EXPECT_EQ(children_of("lead"), std::vector<std::string>{"coder done"});
  EXPECT_TRUE(family.registered("lead", "coder").note.starts_with("merged as "));
}

TEST_F(MergeCommand, finds_the_work_merged_the_second_time) {
  grow();
  ASSERT_EQ(merge().exit, kExitYes);
  const Answer again = merge();
  EXPECT_EQ(again.exit, kExitYes);
  EXPECT_EQ(again.out, "coder: its work is merged\n");
  EXPECT_EQ(family.merges(), 1);
}

TEST_F(MergeCommand, says_it_as_json) {
  grow();
  change_in_work("a", "half done");
  const Answer no = merge({"--json"});
  EXPECT_EQ(no.exit, kExitNo);
  EXPECT_EQ(no.json()["agent"], "coder");
  EXPECT_EQ(no.json()["merged"], false);
  EXPECT_EQ(no.json()["into"], Family::kWork);
  EXPECT_EQ(no.json()["how"],
            "it stays on branch tend/coder: it has changes that are not committed: a");
  change_in_work("a", "1");
  const Answer yes = merge({"--json"});
  EXPECT_EQ(yes.exit, kExitYes);
  EXPECT_EQ(yes.json()["merged"], true);
}

TEST_F(MergeCommand, leaves_a_conflict_on_its_branch_and_says_where) {
  family.behaves["coder"] = [](SimSelf& self) {
    self.write("a", "of coder");
    self.after(30s, end_well);
  };
  grow();
  change_in_work("a", "of lead");
  work().head["a"] = "of lead";
  expect_refused(merge(), kExitNo,
                 "tend merge: coder is not merged: it is in conflict with /home/user/work, and "
                 "stays on branch tend/coder: a");
  EXPECT_EQ(file("a"), "of lead");
  EXPECT_EQ(children_of("lead"), std::vector<std::string>{"coder unmerged"});
}

TEST_F(MergeCommand, settles_nobody_by_a_merge_into_another_work_tree) {
  grow();
  const std::string other = family.make_worktree("other");
  const Answer answer = merge({"--into", other});
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_EQ(universe.disk.read(other + "/b"), "of coder");
  EXPECT_EQ(file("b"), "");
  EXPECT_EQ(children_of("lead"), std::vector<std::string>{"coder unmerged"});
  EXPECT_EQ(family.registered("lead", "coder").note, "it ended well, and its work is not merged");
  ASSERT_EQ(merge({"--into", Family::kWork}).exit, kExitYes);
  EXPECT_EQ(children_of("lead"), std::vector<std::string>{"coder done"});
}

TEST_F(MergeCommand, takes_the_other_work_tree_also_if_its_parent_is_not_there_any_more) {
  grow();
  const std::string other = family.make_worktree("other");
  const std::string moved = "/home/user/tend/sessions/moved";
  family.kill_both("lead");
  universe.disk.make_folder(moved);
  for (const std::string& path : universe.disk.files(family.folders["coder"])) {
    universe.disk.write(moved + path.substr(family.folders["coder"].size()),
                        universe.disk.read(path).value());
  }
  universe.disk.remove(family.folders["lead"]);
  EXPECT_EQ(tend({"merge", moved}).exit, kExitNo);
  const Answer answer = tend({"merge", moved, "--into", other});
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_EQ(universe.disk.read(other + "/b"), "of coder");
}

TEST_F(MergeCommand, says_that_a_folder_to_merge_into_is_not_there) {
  grow();
  const Answer answer = merge({"--into", "/home/user/nowhere"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_TRUE(answer.err.starts_with("tend merge: --into: ")) << answer.err;
}

TEST_F(MergeCommand, takes_back_what_one_before_left_in_its_middle) {
  grow();
  universe.version_control_takes = 10s;
  const auto asker = family.agents("lead").front();
  universe.after(27s, [&] {
    for (const std::int64_t pid : universe.pids("tend")) universe.kill(pid);
  });
  EXPECT_THROW(tend_below(asker, {"merge", "coder"}, variables_of("lead")), SimKilled);
  ASSERT_NE(work().merging, "") << "it was in its middle";
  ASSERT_EQ(family.registered("lead", "coder").note, "merging " + work().merging);
  const Answer answer = merge();
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_EQ(family.merges(), 1);
  EXPECT_EQ(work().merging, "");
}

TEST_F(MergeCommand, that_died_in_its_middle_is_made_good_when_its_lead_ends_in_the_same_moment) {
  grow();
  universe.version_control_takes = 10s;
  universe.hints = SimHints::none;
  const auto asker = family.agents("lead").front();
  universe.after(27s, [&] {
    for (const std::int64_t pid : universe.pids("tend")) universe.kill(pid);
  });
  EXPECT_THROW(tend_below(asker, {"merge", "coder"}, variables_of("lead")), SimKilled);
  ASSERT_NE(work().merging, "") << "it was in its middle";
  family.kill_agents("lead");
  universe.run_for(3min);
  EXPECT_EQ(work().merging, "");
  EXPECT_EQ(family.merges(), 1);
}

TEST_F(MergeCommand, before_the_keeper_saw_the_end_leaves_that_to_be_told) {
  grow_without_keeper();
  ASSERT_EQ(merge().exit, kExitYes);
  EXPECT_EQ(children_of("lead"), std::vector<std::string>{"coder done"});
  EXPECT_TRUE(family.registered("lead", "coder").untold);
  EXPECT_EQ(told_of_end(), Lines{});
  keep_lead_again();
  EXPECT_EQ(told_of_end(), Lines{"child-done: coder (coding) finished"});
  EXPECT_EQ(children_of("lead"), std::vector<std::string>{"coder done"});
  EXPECT_FALSE(family.registered("lead", "coder").untold);
  EXPECT_TRUE(family.registered("lead", "coder").note.starts_with("merged as "));
}

TEST_F(MergeCommand, before_a_keeper_that_runs_saw_the_end_leaves_that_to_be_told) {
  universe.hints = SimHints::none;
  start_lead();
  family.dispatch("lead", "coder");
  while (!family.over("coder")) universe.run_for(100ms);
  ASSERT_EQ(children_of("lead"), std::vector<std::string>{"coder active"});
  ASSERT_EQ(merge().exit, kExitYes);
  universe.run_for(1min);
  EXPECT_EQ(told_of_end(), Lines{"child-done: coder (coding) finished"});
  EXPECT_EQ(family.last_told("lead", "coder"), "finished");
}

TEST_F(MergeCommand, leaves_nothing_to_be_told_that_a_keeper_told_before_it_died) {
  grow();
  ASSERT_EQ(told_of_end().size(), 1U);
  ChildLine line = family.registered("lead", "coder");
  line.status = ChildStatus::active;
  family.cannot_be_kept["lead"] = true;
  family.kill_keepers("lead");
  universe.disk.append(family.path("lead", ".children"), format_child_line(line) + "\n");
  ASSERT_EQ(merge().exit, kExitYes);
  keep_lead_again();
  EXPECT_EQ(told_of_end().size(), 1U);
  EXPECT_FALSE(family.registered("lead", "coder").untold);
}

TEST_F(MergeCommand, that_died_in_its_middle_is_still_announced_when_the_end_was_told) {
  grow_without_keeper();
  universe.version_control_takes = 10s;
  const auto asker = family.agents("lead").front();
  universe.after(27s, [&] {
    for (const std::int64_t pid : universe.pids("tend")) universe.kill(pid);
  });
  EXPECT_THROW(tend_below(asker, {"merge", "coder"}, variables_of("lead")), SimKilled);
  ASSERT_NE(work().merging, "") << "it was in its middle";
  keep_lead_again();
  ASSERT_EQ(told_of_end().size(), 1U);
  EXPECT_TRUE(told_of_end().front().ends_with("`tend merge coder` brings it here"));
  EXPECT_EQ(family.registered("lead", "coder").note, "merging " + work().merging);
  EXPECT_FALSE(family.registered("lead", "coder").untold);
}

TEST_F(MergeCommand, waits_while_the_keeper_writes_what_became_of_another) {
  grow();
  const auto folder = universe.machine("other").folders.open(family.folders["lead"]);
  auto held = lock_registry(**folder);
  ASSERT_TRUE(held && *held);
  universe.after(200ms, [&] { held->reset(); });
  EXPECT_EQ(merge().exit, kExitYes);
}

TEST_F(MergeCommand, keeps_what_was_announced_while_version_control_fails) {
  grow();
  ChildLine line = family.registered("lead", "coder");
  line.note = "merging abc";
  universe.disk.append(family.path("lead", ".children"), format_child_line(line) + "\n");
  universe.version_control_fails = "git was ended by its time limit";
  expect_refused(merge(), kExitNo,
                 "tend merge: coder is not merged: git was ended by its time limit");
  EXPECT_EQ(family.registered("lead", "coder").note, "merging abc");
}

TEST_F(MergeCommand, does_not_take_a_work_tree_that_is_gone_for_merged) {
  grow();
  universe.disk.remove(worktree());
  universe.repositories.erase(worktree());
  expect_refused(merge(), kExitNo,
                 "tend merge: coder is not merged: its work tree " + worktree() +
                     " is gone: merge its branch by hand, if it has one");
  EXPECT_EQ(children_of("lead"), std::vector<std::string>{"coder unmerged"});
}

TEST_F(MergeCommand, does_not_merge_while_another_one_registers_or_merges) {
  grow();
  const auto folder = universe.machine("other").folders.open(family.folders["lead"]);
  const auto held = lock_registry(**folder);
  ASSERT_TRUE(held && *held);
  expect_refused(merge(), kExitNo,
                 "tend merge: its parent is dispatching or merging just now; try again");
  EXPECT_EQ(family.merges(), 0);
}

TEST_F(MergeCommand, refuses_one_that_is_not_over) {
  family.behaves["coder"] = talk;
  start_lead();
  family.dispatch("lead", "coder");
  universe.run_for(1min);
  expect_refused(merge(), kExitNo, "tend merge: coder is not over; `tend wait coder` waits for it");
}

TEST_F(MergeCommand, refuses_one_that_did_not_end_well) {
  family.behaves["coder"] = [](SimSelf& self) {
    talk(self);
    self.write(*self.variable("TEND_INFRA") + "/outcome.json",
               R"({"outcome":"withdrawn","life":1})");
    self.exit_after(30s, 0);
  };
  start_lead();
  family.dispatch("lead", "coder");
  universe.run_for(2min);
  expect_refused(merge(), kExitNo,
                 "tend merge: coder did not end well (withdrawn): its work stays in " + worktree());
}

TEST_F(MergeCommand, refuses_one_that_works_where_its_parent_does) {
  family.behaves["helper"] = work_for(30s);
  start_lead();
  family.dispatch("lead", "helper");
  universe.run_for(2min);
  expect_refused(tend_in("lead", {"merge", "helper"}), kExitNo,
                 "tend merge: helper has no work tree of its own: there is nothing to merge");
  const Answer nobody = tend({"merge", "nobody"});
  EXPECT_EQ(nobody.exit, kExitNo);
  EXPECT_TRUE(nobody.err.starts_with("tend merge: no agent 'nobody'")) << nobody.err;
}

TEST_F(MergeCommand, asks_where_to_if_the_parent_has_no_work_tree) {
  const auto usual = family.change;
  family.change = [usual](AgentFile& file) {
    usual(file);
    if (file.agent == "lead") file.worktree = "";
  };
  grow();
  expect_refused(merge(), kExitNo,
                 "tend merge: the parent of coder has no work tree; say where with --into DIR");
  EXPECT_EQ(merge({"--into", Family::kWork}).exit, kExitYes);
  EXPECT_EQ(file("b"), "of coder");
}

}  // namespace
}  // namespace tend
