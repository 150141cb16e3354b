// Snapshots and salvage of simulated work trees.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr const char* kTree = "/home/user/work";

class SimVersionControl : public testing::Test {
 protected:
  SimVersionControl() {
    universe.disk.write("/home/user/work/old.txt", "old");
    universe.disk.write("/home/user/work/build/big", "big");
  }

  Result<Snapshot> snapshot(SnapshotOrder order = {.worktree = kTree, .ref = "refs/tend/a/1"}) {
    std::optional<Result<Snapshot>> got;
    const auto asked = machine.version_control.snapshot(
        order, [&](const Result<Snapshot>& result) { got = result; });
    universe.run_for(universe.version_control_takes);
    return got.value();
  }
  bool changed_since(WallTime since) {
    std::optional<bool> got;
    const auto asked = machine.version_control.changed_since(
        kTree, since, {}, [&](const Result<bool>& result) { got = result.value(); });
    universe.run_for(0s);
    return got.value();
  }

  SimUniverse universe;
  Machine& machine = universe.machine();
};

TEST_F(SimVersionControl, saves_what_differs_from_the_head_under_a_ref) {
  SimRepository& repository = universe.repositories[kTree];
  repository.head = {{"old.txt", "old"}};
  repository.ignored = {"build"};
  EXPECT_EQ(snapshot()->commit, "") << "nothing to save";
  universe.disk.write("/home/user/work/src/new.txt", "new");
  const auto saved = snapshot();
  ASSERT_TRUE(saved);
  EXPECT_TRUE(saved->versioned);
  EXPECT_EQ(saved->files, 1U);
  EXPECT_EQ(saved->commit.size(), 40U);
  EXPECT_EQ(repository.refs.at("refs/tend/a/1").files.at("src/new.txt"), "new");
  EXPECT_EQ(repository.refs.at("refs/tend/a/1").id, saved->commit);
  EXPECT_EQ(machine.version_control.top("/home/user/work/src"), kTree);
}

TEST_F(SimVersionControl, never_moves_a_ref_that_exists) {
  const auto& refs = universe.repositories[kTree].refs;
  EXPECT_EQ(snapshot()->ref, "refs/tend/a/1");
  EXPECT_EQ(snapshot()->ref, "refs/tend/a/1") << "the same is not saved twice";
  universe.disk.write("/home/user/work/old.txt", "newer");
  EXPECT_EQ(snapshot()->ref, "refs/tend/a/1-2");
  EXPECT_EQ(refs.at("refs/tend/a/1").files.at("old.txt"), "old");
  EXPECT_EQ(refs.at("refs/tend/a/1-2").files.at("old.txt"), "newer");
}

TEST_F(SimVersionControl, says_what_it_left_out) {
  universe.repositories[kTree].head = {{"old.txt", "old"}};
  const auto saved = snapshot({.worktree = kTree, .ref = "r", .largest_file = 2});
  ASSERT_TRUE(saved);
  ASSERT_EQ(saved->left_out.size(), 1U);
  EXPECT_TRUE(saved->left_out.at(0).starts_with("build/big"));
}

TEST_F(SimVersionControl, does_nothing_where_there_is_none) {
  const auto none = snapshot();
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->versioned);
  universe.version_control_fails = "git is missing";
  EXPECT_EQ(snapshot().error().text, "git is missing");
}

TEST_F(SimVersionControl, leaves_no_ref_of_one_who_is_killed_meanwhile) {
  universe.repositories[kTree];
  universe.version_control_takes = 10s;
  const auto asked = machine.version_control.snapshot({.worktree = kTree, .ref = "r"}, [](auto) {});
  universe.run_for(5s);
  universe.kill(machine.processes.self().pid);
  universe.run_for(10s);
  EXPECT_TRUE(universe.repositories[kTree].refs.empty());
}

TEST_F(SimVersionControl, tells_whether_the_tree_changed) {
  universe.repositories[kTree].ignored = {"build"};
  const WallTime since = universe.wall();
  universe.run_for(1s);
  universe.disk.write("/home/user/work/build/big", "bigger");
  EXPECT_FALSE(changed_since(since));
  universe.disk.write("/home/user/work/old.txt", "newer");
  EXPECT_TRUE(changed_since(since));
}

class SimMerges : public SimVersionControl {
 protected:
  SimMerges() {
    repository().head = {{"old.txt", "old"}};
    repository().ignored = {"build"};
    const auto made = machine.version_control.make_worktree(
        {.repository = kTree, .path = kChild, .branch = "child", .from = ""}, [](auto) {});
    universe.run_for(0s);
    universe.disk.write("/home/user/child/new.txt", "new");
    universe.repositories[kChild].head["new.txt"] = "new";  // the test commits
    const auto settled = machine.version_control.state(kChild, [](auto) {});
    universe.run_for(0s);
    universe.version_control_takes = 10s;
  }
  SimRepository& repository() { return universe.repositories[kTree]; }
  [[nodiscard]] MergeOrder order() {
    return {.into = kTree, .commit = universe.repositories[kChild].commit, .message = "Merge"};
  }
  /// One who is killed that long after it began to merge.
  void merge_and_die_after(Duration time) {
    universe.start_process("other");
    Machine& other = universe.machine("other");
    const auto asked = other.version_control.merge(order(), [](auto) { FAIL(); });
    universe.run_for(time);
    universe.kill(other.processes.self().pid);
    universe.run_for(20s);
  }

  static constexpr const char* kChild = "/home/user/child";
};

TEST_F(SimMerges, are_left_in_their_middle_by_one_who_is_killed) {
  merge_and_die_after(4s);
  EXPECT_EQ(repository().merging, "") << "not begun";
  merge_and_die_after(6s);
  EXPECT_EQ(repository().merging, order().commit);
  EXPECT_FALSE(universe.disk.exists("/home/user/work/new.txt"));

  std::optional<bool> aborted;
  const auto asked = machine.version_control.abort_merge(
      kTree, order().commit, [&](const Result<bool>& told) { aborted = told.value(); });
  universe.run_for(10s);
  EXPECT_EQ(aborted, true);
  EXPECT_EQ(repository().merging, "");
}

TEST_F(SimMerges, are_done_after_their_time) {
  std::optional<Merged> done;
  const auto asked = machine.version_control.merge(
      order(), [&](const Result<Merged>& told) { done = told.value(); });
  universe.run_for(9s);
  EXPECT_EQ(repository().merging, order().commit);
  universe.run_for(1s);
  EXPECT_EQ(done.value().how, Merged::How::merged);
  EXPECT_EQ(repository().merging, "");
  EXPECT_EQ(repository().commits.at(done->commit).parents.at(1), order().commit);
  EXPECT_EQ(repository().head.at("new.txt"), "new");
  EXPECT_EQ(universe.disk.read("/home/user/work/new.txt"), "new");
}

TEST_F(SimMerges, leave_what_somebody_writes_meanwhile) {
  std::optional<Merged> done;
  const auto asked = machine.version_control.merge(
      order(), [&](const Result<Merged>& told) { done = told.value(); });
  universe.run_for(9s);
  universe.disk.write("/home/user/work/old.txt", "mine");
  universe.run_for(1s);
  EXPECT_EQ(done.value().how, Merged::How::merged);
  EXPECT_EQ(universe.disk.read("/home/user/work/old.txt"), "mine") << "the merge is not about it";
}

TEST_F(SimMerges, are_refused_where_somebody_wrote_the_same_file_meanwhile) {
  std::optional<Merged> done;
  const auto asked = machine.version_control.merge(
      order(), [&](const Result<Merged>& told) { done = told.value(); });
  universe.run_for(9s);
  universe.disk.write("/home/user/work/new.txt", "mine");
  universe.run_for(1s);
  EXPECT_EQ(done.value().how, Merged::How::refused);
  EXPECT_EQ(universe.disk.read("/home/user/work/new.txt"), "mine");
  EXPECT_EQ(repository().merging, "");
}

TEST_F(SimMerges, fail_where_everything_does) {
  universe.version_control_fails = "git is missing";
  std::string why;
  const auto asked = machine.version_control.merge(
      order(), [&](const Result<Merged>& told) { why = told.error().text; });
  universe.run_for(10s);
  EXPECT_EQ(why, "git is missing");
}

TEST_F(SimVersionControl, salvages_within_its_bounds) {
  const WallTime since = universe.wall();
  universe.disk.set_modified("/home/user/work/old.txt", since - 1h);
  universe.disk.write("/home/user/work/a", "aaaa");
  universe.disk.write("/home/user/work/b", "bbbb");
  universe.disk.make_folder("/home/user/salvage");
  const auto saved = machine.salvager.salvage({.worktree = kTree,
                                               .into = "/home/user/salvage",
                                               .most_bytes = 8,
                                               .changed_since = since,
                                               .exclude = {"/home/user/work/b"}});
  ASSERT_TRUE(saved);
  EXPECT_EQ(saved->files, 2U);
  EXPECT_EQ(saved->bytes, 7U);
  EXPECT_EQ(universe.disk.read("/home/user/salvage/a"), "aaaa");
  EXPECT_EQ(universe.disk.read("/home/user/salvage/build/big"), "big");
  EXPECT_FALSE(universe.disk.exists("/home/user/salvage/old.txt"));
}

}  // namespace
}  // namespace tend
