// Where work trees stand, new ones, and what is saved: against real repositories.
#include "os/linux/git_worktree.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "os/linux/git_testing.h"

namespace tend {
namespace {

using testing::TempDir;

class GitTrees : public testing::Test {
 protected:
  WorktreeState state(const std::string& worktree) {
    const auto told = repo.bench.state(worktree);
    EXPECT_TRUE(told) << told.error().text;
    return told.value_or(WorktreeState{});
  }
  [[nodiscard]] WorktreeOrder order(const std::string& name = "child") const {
    return {.repository = repo.top(),
            .path = repo.scratch() + "/" + name,
            .branch = "tend/" + name,
            .from = ""};
  }
  WorktreeState make(const WorktreeOrder& order) {
    const auto made = repo.bench.make_worktree(order);
    EXPECT_TRUE(made) << made.error().text;
    return made.value_or(WorktreeState{});
  }
  std::string why_not(const WorktreeOrder& order) {
    const auto made = repo.bench.make_worktree(order);
    EXPECT_FALSE(made);
    return made ? "" : made.error().text;
  }
  std::string everything() {
    return repo.sh("git worktree list; git for-each-ref; ls .. .git/worktrees 2>&1; true");
  }

  Repository repo{TempDir()};
};

TEST_F(GitTrees, tells_where_a_work_tree_stands) {
  repo.write("folder/file", "x\n");
  repo.write("x.o", "ignored\n");
  repo.sh("git add -A && git commit -qm more");
  const WorktreeState clean = state(repo.path("folder"));
  EXPECT_TRUE(clean.versioned);
  EXPECT_EQ(clean.top, repo.top());
  EXPECT_EQ(clean.commit, repo.line("git rev-parse HEAD"));
  EXPECT_EQ(clean.branch, "main");
  EXPECT_EQ(clean.busy + clean.merging, "");
  EXPECT_FALSE(clean.dirty);

  repo.write("folder/new", "not ignored\n");
  EXPECT_TRUE(state(repo.top()).dirty);
  repo.sh("rm folder/new && git checkout -q --detach");
  EXPECT_EQ(state(repo.top()).branch, "");
  EXPECT_FALSE(state(repo.top()).dirty);
  repo.sh("git checkout -q --orphan unborn");
  EXPECT_EQ(state(repo.top()).commit, "");
  EXPECT_EQ(state(repo.top()).branch, "unborn");
}

TEST_F(GitTrees, tells_what_is_in_progress) {
  repo.sh("git checkout -qb other && echo theirs > changed && git commit -qam b");
  repo.sh("git checkout -q main && echo ours > changed && git commit -qam a");
  for (const std::string begin : {"merge", "rebase", "cherry-pick", "revert"}) {
    const std::string what = begin == "revert" ? "HEAD~1" : "other";
    if (begin == "revert") repo.sh("echo later > changed && git commit -qam c");
    ASSERT_FALSE(repo.succeeds("git " + begin + " --no-edit " + what) ||
                 repo.succeeds("git " + begin + " " + what))
        << begin;
    const WorktreeState told = state(repo.top());
    EXPECT_EQ(told.busy, "a " + begin);
    EXPECT_EQ(told.merging, begin == "merge" ? repo.line("git rev-parse other") : "");
    EXPECT_TRUE(told.dirty);
    repo.sh("git " + begin + " --abort");
  }
}

TEST_F(GitTrees, tells_that_there_is_no_version_control) {
  EXPECT_FALSE(state(repo.scratch()).versioned);
  EXPECT_EQ(repo.bench.worktrees(repo.scratch())->size(), 0U);
  EXPECT_EQ(repo.bench.saved(repo.scratch())->size(), 0U);
  EXPECT_FALSE(repo.bench.abort_merge(repo.scratch(), "x").value());
  EXPECT_FALSE(repo.bench.contains(repo.scratch(), "x"));
  EXPECT_EQ(repo.bench.merge({repo.scratch(), "x", "m"})->how, Merged::How::refused);
  EXPECT_NE(repo.bench.commit({.worktree = repo.scratch(), .message = "m"})->refused, "");
  WorktreeOrder nowhere = order();
  nowhere.repository = repo.scratch();
  EXPECT_TRUE(why_not(nowhere).contains("there is no version control in "));

  const ScratchFolder programs(TempDir());
  std::filesystem::create_symlink("/usr/bin/env", programs.path() + "/env");
  const Variable path("PATH", programs.path());
  EXPECT_FALSE(state(repo.top()).versioned) << "no git program";
  EXPECT_TRUE(why_not(order()).contains("there is no version control in "));
}

TEST_F(GitTrees, makes_a_work_tree_on_a_branch_of_its_own) {
  repo.write("x.o", "ignored\n");
  repo.write("changed", "not committed\n");
  const std::string before = repo.sh("git status --porcelain --branch; git stash list");
  const WorktreeState made = make(order());
  EXPECT_EQ(made.top, repo.scratch() + "/child");
  EXPECT_EQ(made.branch, "tend/child");
  EXPECT_EQ(made.commit, repo.line("git rev-parse HEAD"));
  EXPECT_FALSE(made.dirty);
  EXPECT_EQ(read_file(made.top + "/changed"), "changed\n");
  EXPECT_FALSE(std::filesystem::exists(made.top + "/x.o"));
  EXPECT_EQ(repo.sh("git status --porcelain --branch; git stash list"), before);
  EXPECT_EQ(repo.bench.git.repository(made.top), made.top);
}

TEST_F(GitTrees, starts_from_what_is_checked_out_or_from_what_is_named) {
  const std::string first = repo.line("git rev-parse HEAD");
  repo.sh("git checkout -q --detach && echo new > changed && git commit -qam second");
  EXPECT_EQ(make(order("one")).commit, repo.line("git rev-parse HEAD"));
  WorktreeOrder named = order("two");
  named.from = "main";
  EXPECT_EQ(make(named).commit, first);
  EXPECT_EQ(read_file(named.path + "/changed"), "changed\n");
  WorktreeOrder on_none = order("three");
  on_none.branch = "";
  EXPECT_EQ(make(on_none).branch, "");
  WorktreeOrder of_child = order("four");
  of_child.repository = named.path;
  EXPECT_EQ(make(of_child).commit, first) << "a child of a child";
}

TEST_F(GitTrees, takes_paths_of_every_kind) {
  for (const std::string name : {"a b", "two\nlines", "caf\xc3\xa9", "-n", "deep/er/still"}) {
    WorktreeOrder odd = order(name);
    odd.branch = "b" + std::to_string(name.size());
    EXPECT_EQ(make(odd).top, odd.path);
    const auto all = repo.bench.worktrees(odd.path);
    ASSERT_TRUE(all);
    EXPECT_EQ(all->front().path, repo.top());
    EXPECT_TRUE(std::ranges::any_of(*all, [&](const auto& one) { return one.path == odd.path; }))
        << name;
  }
}

TEST_F(GitTrees, lists_all_work_trees_the_main_one_first) {
  make(order("a"));
  WorktreeOrder detached = order("b");
  detached.branch = "";
  make(detached);
  const auto all = repo.bench.worktrees(repo.scratch() + "/b");
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 3U);
  EXPECT_EQ((*all)[0].path, repo.top());
  EXPECT_EQ((*all)[0].branch, "main");
  EXPECT_EQ((*all)[0].commit, repo.line("git rev-parse HEAD"));
  EXPECT_EQ((*all)[1].branch, "tend/a");
  EXPECT_EQ((*all)[2].branch, "");
}

TEST_F(GitTrees, refuses_what_is_in_the_way_and_leaves_nothing_behind) {
  repo.sh("git branch tend/taken && mkdir -p ../full && touch ../full/file");
  const std::string before = everything();
  EXPECT_TRUE(why_not(order("taken")).contains("a branch named tend/taken exists already"));
  EXPECT_TRUE(why_not(order("full")).contains("already exists"));
  WorktreeOrder odd = order("odd");
  odd.branch = "not..valid";
  EXPECT_TRUE(why_not(odd).contains("not a valid branch name"));
  odd = order("odd");
  odd.from = "nowhere";
  EXPECT_TRUE(why_not(odd).contains("there is no commit nowhere"));
  EXPECT_EQ(everything(), before);
  make(order("empty"));
  repo.sh("git worktree remove ../empty && git branch -qD tend/empty && mkdir ../empty");
  make(order("empty"));
}

TEST_F(GitTrees, needs_a_commit_to_start_from) {
  repo.sh("git checkout -q --orphan unborn");
  EXPECT_TRUE(why_not(order()).contains("there is no commit yet to start from; commit once"));
}

TEST_F(GitTrees, takes_over_what_was_made_before) {
  const WorktreeState first = make(order());
  write_file(first.top + "/changed", "work in it\n");
  const WorktreeState again = make(order());
  EXPECT_EQ(again.branch, first.branch);
  EXPECT_EQ(read_file(first.top + "/changed"), "work in it\n");
  WorktreeOrder other = order();
  other.branch = "another";
  EXPECT_TRUE(why_not(other).contains("is a work tree of it already"));
}

TEST_F(GitTrees, takes_over_what_was_left_in_its_middle) {
  make(order());
  repo.sh(
      "echo initializing > .git/worktrees/child/locked && rm ../child/changed"
      " .git/worktrees/child/index");
  const WorktreeState made = make(order());
  EXPECT_EQ(made.branch, "tend/child");
  EXPECT_FALSE(made.dirty);
  EXPECT_EQ(read_file(made.top + "/changed"), "changed\n");

  repo.sh("rm -r ../child");
  EXPECT_FALSE(make(order()).dirty) << "known to git, but missing";
  repo.sh("rm -r ../child && echo initializing > .git/worktrees/child/locked");
  EXPECT_FALSE(make(order()).dirty) << "not made yet";
  EXPECT_EQ(repo.sh("ls .git/worktrees"), "child\n");
}

TEST_F(GitTrees, makes_a_work_tree_of_a_repository_with_submodules) {
  repo.sh("git init -q ../source && cd ../source && touch a && git add a && git commit -qm a");
  repo.sh(
      "git -c protocol.file.allow=always submodule --quiet add ../source sub"
      " && git commit -qm sub");
  EXPECT_FALSE(make(order()).dirty);
  repo.write("sub/a", "not committed\n");
  EXPECT_FALSE(state(repo.top()).dirty) << "the submodule's own files";
  repo.sh("cd sub && git commit -qam moved");
  EXPECT_TRUE(state(repo.top()).dirty);
}

TEST_F(GitTrees, tells_whether_a_commit_is_contained) {
  const std::string first = repo.line("git rev-parse HEAD");
  repo.sh("git checkout -qb other && echo b > changed && git commit -qam b");
  const std::string second = repo.line("git rev-parse HEAD");
  EXPECT_TRUE(repo.bench.contains(repo.top(), first).value());
  EXPECT_TRUE(repo.bench.contains(repo.top(), second).value());
  repo.sh("git checkout -q main");
  EXPECT_FALSE(repo.bench.contains(repo.top(), second).value());
  EXPECT_FALSE(repo.bench.contains(repo.top(), std::string(40, '1')).value());
  repo.sh("git checkout -q --orphan unborn");
  EXPECT_FALSE(repo.bench.contains(repo.top(), first).value());
}

TEST_F(GitTrees, lists_what_is_saved_oldest_first) {
  EXPECT_EQ(repo.bench.saved(repo.top())->size(), 0U);
  repo.write("changed", "one\n");
  const Snapshot first = repo.save();
  repo.write("two\nlines", "two\n");
  const Snapshot second = repo.save();
  repo.sh("git update-ref refs/tend/blob $(git rev-parse HEAD:kept)");
  const auto all = repo.bench.saved(repo.top());
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ((*all)[0].ref, first.ref);
  EXPECT_EQ((*all)[0].commit, first.commit);
  EXPECT_EQ((*all)[0].message, "Work of coder");
  EXPECT_EQ((*all)[0].files, 1U);
  EXPECT_GT((*all)[0].at.time_since_epoch(), std::chrono::hours{24 * 365 * 50});
  EXPECT_EQ((*all)[1].ref, second.ref);
  EXPECT_EQ((*all)[1].files, 2U);
}

TEST_F(GitTrees, counts_what_was_saved_before_the_first_commit) {
  repo.sh("git checkout -q --orphan other && rm .git/index");
  repo.save();
  EXPECT_EQ(repo.bench.saved(repo.top())->at(0).files, 4U);
}

TEST_F(GitTrees, lists_the_newest_thousand) {
  repo.sh(
      "for i in $(seq 1005); do echo \"create refs/tend/x/$i HEAD\"; done"
      " | git update-ref --stdin");
  const auto all = repo.bench.saved(repo.top());
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 1000U);
  EXPECT_EQ(all->back().ref, "refs/tend/x/1005");
}

}  // namespace
}  // namespace tend
