// Commits of whole work trees, against real repositories.
#include "os/linux/git_commit.h"

#include <gtest/gtest.h>

#include "os/linux/git_testing.h"

namespace tend {
namespace {

using testing::TempDir;

class GitCommits : public testing::Test {
 protected:
  [[nodiscard]] CommitOrder order() const { return {.worktree = repo.top(), .message = "Work"}; }
  Committed commit() { return commit(order()); }
  Committed commit(const CommitOrder& order) {
    const auto done = repo.bench.commit(order);
    EXPECT_TRUE(done) << done.error().text;
    return done.value_or(Committed{});
  }
  std::string refused() {
    const std::string before = repo.untouched();
    const Committed done = commit();
    EXPECT_EQ(done.commit, "");
    EXPECT_EQ(repo.untouched(), before);
    return done.refused;
  }

  Repository repo{TempDir()};
};

TEST_F(GitCommits, takes_everything_that_is_not_ignored) {
  const std::string parent = repo.sh("git rev-parse HEAD");
  repo.write("changed", "new text\n");
  repo.write("two\nlines", "new\n");
  repo.write("staged", "staged\n");
  repo.sh("git add staged && rm deleted && echo more >> staged");
  repo.write("x.o", "ignored\n");
  const Committed done = commit();
  EXPECT_EQ(done.refused, "");
  EXPECT_TRUE(done.left_out.empty());
  EXPECT_EQ(repo.line("git rev-parse main"), done.commit);
  EXPECT_EQ(repo.sh("git rev-parse HEAD^@"), parent);
  EXPECT_EQ(repo.sh("git status --porcelain"), "");
  EXPECT_EQ(repo.sh("git diff --name-status -z HEAD^ HEAD | tr '\\0' ,"),
            "M,changed,D,deleted,A,staged,A,two\nlines,");
  EXPECT_EQ(repo.sh("git show HEAD:staged"), "staged\nmore\n");
  EXPECT_EQ(repo.sh("git log -1 --format='%an %ae %cn %s'"),
            "Somebody s@example.org Somebody Work\n");
  EXPECT_EQ(repo.sh("git fsck --strict 2>&1 | grep -v ^dangling; true"), "");
}

TEST_F(GitCommits, does_nothing_where_there_is_nothing) {
  repo.write("x.o", "ignored\n");
  const std::string before = repo.untouched();
  const Committed done = commit();
  EXPECT_EQ(done.commit + done.refused, "");
  EXPECT_EQ(repo.untouched(), before);
}

TEST_F(GitCommits, has_an_identity_where_none_is_configured) {
  const Variable no_system("GIT_CONFIG_NOSYSTEM", "1");
  write_file(repo.scratch() + "/home/.gitconfig", "");
  repo.write("changed", "new\n");
  EXPECT_NE(commit().commit, "");
  EXPECT_EQ(repo.sh("git log -1 --format='%an %ae %cn'"), "Tend tend@localhost Tend\n");
}

TEST_F(GitCommits, is_the_first_where_there_is_none_yet) {
  repo.sh("git checkout -q --orphan unborn && git rm -rqf --cached .");
  const Committed done = commit();
  EXPECT_EQ(repo.line("git rev-list unborn"), done.commit);
  EXPECT_EQ(repo.sh("git show unborn:kept"), "kept\n");
  repo.sh("git checkout -q --orphan empty && git rm -rqf . && git clean -fdxq");
  repo.write("large", "123456789");
  CommitOrder small = order();
  small.largest_file = 8;
  EXPECT_EQ(commit(small).commit, "") << "all that there is was left out";
}

TEST_F(GitCommits, is_refused_while_something_is_in_the_way) {
  repo.sh("git checkout -qb other && echo theirs > changed && git commit -qam b");
  repo.sh("git checkout -q main && echo ours > changed && git commit -qam a");
  ASSERT_FALSE(repo.succeeds("git merge other"));
  EXPECT_EQ(refused(), "a merge is in progress");
  repo.sh("git merge --abort && git stash list");
  repo.write("changed", "new\n");
  repo.write(".git/index.lock", "");
  EXPECT_TRUE(refused().starts_with("somebody else holds the index (index.lock)"));
  repo.sh("rm .git/index.lock && git checkout -q --detach");
  EXPECT_EQ(refused(), "it is on no branch");
  repo.sh("git checkout -q main && git stash -q && echo later > changed && git commit -qam c");
  ASSERT_FALSE(repo.succeeds("git stash pop"));
  EXPECT_EQ(refused(), "it has conflicts that are not resolved");
}

TEST_F(GitCommits, leaves_out_build_output_of_gigabytes_and_says_so) {
  repo.write("changed", "new\n");
  repo.sh("truncate -s 2G output.bin && truncate -s 5G other.bin");
  const Committed done = commit();
  EXPECT_NE(done.commit, "");
  ASSERT_EQ(done.left_out.size(), 2U);
  EXPECT_EQ(done.left_out[1], "output.bin: 2048 MB, more than 100 MB");
  EXPECT_EQ(repo.sh("git status --porcelain"), "?? other.bin\n?? output.bin\n");
}

TEST_F(GitCommits, leaves_out_what_is_excluded_and_what_is_claimed_to_be_unchanged) {
  repo.write("ours/state", "x");
  repo.write("kept", "local settings\n");
  repo.write("changed", "new\n");
  repo.sh("git update-index --skip-worktree kept");
  CommitOrder with = order();
  with.exclude = {repo.path("ours")};
  EXPECT_NE(commit(with).commit, "");
  EXPECT_EQ(repo.sh("git diff --name-only HEAD^ HEAD"), "changed\n");
  EXPECT_EQ(repo.sh("git ls-files -v kept"), "S kept\n");
}

TEST_F(GitCommits, works_in_a_linked_work_tree) {
  repo.sh("git worktree add -q ../linked -b linked");
  CommitOrder there = order();
  there.worktree = repo.scratch() + "/linked";
  write_file(there.worktree + "/changed", "new\n");
  const Committed done = commit(there);
  EXPECT_EQ(done.commit, repo.line("git rev-parse linked"));
  EXPECT_EQ(repo.sh("git status --porcelain"), "");
}

TEST_F(GitCommits, takes_of_a_submodule_only_its_commit) {
  repo.sh("git init -q ../source && cd ../source && touch a && git add a && git commit -qm a");
  repo.sh(
      "git -c protocol.file.allow=always submodule --quiet add ../source sub"
      " && git commit -qm sub");
  repo.write("sub/a", "not committed\n");
  EXPECT_EQ(commit().commit, "");
  repo.sh("cd sub && git commit -qam moved");
  EXPECT_NE(commit().commit, "");
  EXPECT_EQ(repo.sh("git rev-parse HEAD:sub"), repo.sh("git -C sub rev-parse HEAD"));
}

}  // namespace
}  // namespace tend
