// Merges against real repositories: what becomes of them, and what is left when nothing does.
#include "os/linux/git_merge.h"

#include <gtest/gtest.h>

#include "os/linux/git_testing.h"

namespace tend {
namespace {

using testing::TempDir;

class GitMerges : public testing::Test {
 protected:
  /// A commit on a branch of its own, made by this command; main is checked out again.
  std::string child(const std::string& command, const std::string& name = "child") {
    repo.sh("git checkout -qb " + name + " && " + command + " && git add -A && git commit -qm " +
            name + " && git checkout -q main");
    return repo.line("git rev-parse " + name);
  }
  Merged merge(const std::string& commit) { return merge(commit, repo.top()); }
  Merged merge(const std::string& commit, const std::string& into) {
    const auto done = repo.bench.merge({.into = into, .commit = commit, .message = "Merge it"});
    EXPECT_TRUE(done) << done.error().text;
    return done.value_or(Merged{});
  }
  /// Everything that a merge which was not made must have left as it was, files too.
  std::string everything() {
    return repo.untouched() + repo.sh(
                                  "find . -path ./.git -prune -o -type f -print0 | sort -z |"
                                  " xargs -0 sha1sum; true");
  }
  std::string refused(const std::string& commit) {
    const std::string before = everything();
    const Merged done = merge(commit);
    EXPECT_EQ(done.how, Merged::How::refused);
    EXPECT_EQ(everything(), before);
    return done.why;
  }

  Repository repo{TempDir()};
};

TEST_F(GitMerges, makes_a_merge_commit_whatever_could_be_done_without_one) {
  const std::string commit =
      child("echo theirs > changed && rm deleted && mkdir d && echo n > d/n");
  const std::string before = repo.line("git rev-parse HEAD");
  const Merged done = merge(commit);
  EXPECT_EQ(done.how, Merged::How::merged);
  EXPECT_EQ(done.commit, repo.line("git rev-parse main"));
  EXPECT_EQ(repo.line("git rev-parse HEAD^1"), before);
  EXPECT_EQ(repo.line("git rev-parse HEAD^2"), commit);
  EXPECT_EQ(repo.read("changed") + repo.read("d/n"), "theirs\nn\n");
  EXPECT_EQ(repo.sh("git status --porcelain"), "");
  EXPECT_EQ(repo.sh("git log -1 --format='%an %ae %cn %s'"),
            "Somebody s@example.org Somebody Merge it\n");
  EXPECT_EQ(repo.sh("git fsck --strict 2>&1 | grep -v ^dangling; true"), "");

  const Merged again = merge(commit);
  EXPECT_EQ(again.how, Merged::How::already);
  EXPECT_EQ(again.commit, done.commit);
}

TEST_F(GitMerges, joins_what_both_did) {
  const std::string commit = child("echo theirs > changed");
  repo.sh("echo ours > kept && git commit -qam ours");
  EXPECT_EQ(merge(commit).how, Merged::How::merged);
  EXPECT_EQ(repo.read("changed") + repo.read("kept"), "theirs\nours\n");
}

TEST_F(GitMerges, has_an_identity_where_none_is_configured) {
  const std::string commit = child("echo theirs > changed");
  write_file(repo.scratch() + "/home/.gitconfig", "");
  EXPECT_EQ(merge(commit).how, Merged::How::merged);
  EXPECT_EQ(repo.sh("git log -1 --format='%an %ae %cn'"), "Tend tend@localhost Tend\n");
}

TEST_F(GitMerges, leaves_everything_as_it_was_when_there_is_a_conflict) {
  std::string make = "echo theirs > changed && rm deleted && mkdir many";
  std::string ours = "echo ours > changed && echo x >> deleted && mkdir many";
  for (int i = 10; i < 35; ++i) {
    make += " && echo t > many/" + std::to_string(i);
    ours += " && echo o > many/" + std::to_string(i);
  }
  const std::string commit = child(make);
  repo.sh(ours + " && git add -A && git commit -qm ours");
  repo.write("untracked", "stays\n");
  const std::string before = everything();
  const Merged done = merge(commit);
  EXPECT_EQ(done.how, Merged::How::conflict);
  EXPECT_EQ(done.commit, repo.line("git rev-parse HEAD"));
  ASSERT_EQ(done.paths.size(), 20U);
  EXPECT_EQ(done.paths[0], "changed");
  EXPECT_EQ(done.paths[1], "deleted");
  EXPECT_EQ(done.why, "both changed changed, deleted, many/10, ...");
  EXPECT_EQ(everything(), before);
}

TEST_F(GitMerges, takes_a_conflict_back_that_was_not_foreseen) {
  // A git that has no merge-tree of this kind, as those before 2.38.
  const ScratchFolder programs(TempDir());
  write_file(programs.path() + "/git", "#!/bin/sh\n[ \"$1\" = merge-tree ] && exit 129\nPATH=" +
                                           std::string(std::getenv("PATH")) + " exec git \"$@\"\n");
  std::filesystem::permissions(programs.path() + "/git", std::filesystem::perms::owner_all);
  const std::string commit = child("echo theirs > changed && printf x > 'two\nlines'");
  const std::string clean = child("echo clean > kept", "clean");
  repo.sh("echo ours > changed && printf y > 'two\nlines' && git add -A && git commit -qm ours");
  repo.write("untracked", "stays\n");
  const std::string before = repo.sh("git status --porcelain=v2 --branch; ls -a");
  const Variable path("PATH", programs.path() + ":" + std::getenv("PATH"));
  const Merged done = merge(commit);
  EXPECT_EQ(done.how, Merged::How::conflict);
  EXPECT_EQ(done.paths, (std::vector<std::string>{"changed", "two\nlines"}));
  EXPECT_EQ(repo.sh("git status --porcelain=v2 --branch; ls -a"), before);
  EXPECT_EQ(repo.read("changed"), "ours\n");
  EXPECT_EQ(merge(clean).how, Merged::How::merged);
}

TEST_F(GitMerges, is_refused_where_something_is_not_committed) {
  const std::string commit = child("echo theirs > changed");
  for (const std::string name : {"a", "b", "c", "d"}) repo.write(name, name);
  repo.sh("git add -A && git commit -qm abcd");
  repo.write("kept", "not committed\n");
  EXPECT_EQ(refused(commit), "it has changes that are not committed: kept");
  repo.sh("git add kept && echo a > a && echo b > b && rm c d");
  EXPECT_EQ(refused(commit), "it has changes that are not committed: a, b, c");
}

TEST_F(GitMerges, is_refused_in_the_middle_of_something_else) {
  const std::string commit = child("echo theirs > changed");
  repo.sh("echo ours > changed && git commit -qam ours");
  ASSERT_FALSE(repo.succeeds("git merge child"));
  EXPECT_EQ(refused(commit), "a merge is in progress there");
  repo.sh("git merge --abort");
  ASSERT_FALSE(repo.succeeds("git rebase child"));
  EXPECT_EQ(refused(commit), "a rebase is in progress there");
  repo.sh("git rebase --abort");
  repo.write(".git/index.lock", "");
  EXPECT_TRUE(refused(commit).starts_with("somebody else holds the index (index.lock)"));
}

TEST_F(GitMerges, is_refused_where_there_is_nothing_to_merge) {
  EXPECT_EQ(refused("nowhere"), "there is no commit nowhere");
  EXPECT_EQ(refused("-x"), "there is no commit -x");
  const std::string commit = repo.line("git rev-parse HEAD");
  repo.sh("git checkout -q --orphan unborn && git rm -rqf .");
  EXPECT_EQ(refused(commit), "there is no commit yet to merge into");
  repo.sh("touch other && git add other && git commit -qm other");
  EXPECT_TRUE(refused(commit).contains("unrelated histories"));
}

TEST_F(GitMerges, overwrites_nothing_that_is_not_tracked) {
  const std::string commit = child(
      "mkdir build && echo theirs > new && echo b > build/x"
      " && git add -f build");
  repo.write("build/x", "ignored, and mine\n");
  EXPECT_EQ(refused(commit), "files that are not tracked are in the way: build/x");
  repo.write("new", "mine\n");
  EXPECT_EQ(refused(commit), "files that are not tracked are in the way: build/x, new");
  repo.sh("rm -r build new");
  EXPECT_EQ(merge(commit).how, Merged::How::merged);
}

TEST_F(GitMerges, works_on_no_branch_and_in_linked_work_trees) {
  const std::string commit = child("echo theirs > changed");
  repo.sh("git worktree add -q '../linked tree' -b linked && git checkout -q --detach");
  EXPECT_EQ(merge(commit).how, Merged::How::merged);
  EXPECT_NE(repo.line("git rev-parse HEAD"), repo.line("git rev-parse main"));
  const Merged there = merge(commit, repo.scratch() + "/linked tree");
  EXPECT_EQ(there.how, Merged::How::merged);
  EXPECT_EQ(there.commit, repo.line("git rev-parse linked"));
}

TEST_F(GitMerges, merges_beside_a_submodule) {
  repo.sh("git init -q ../source && cd ../source && touch a && git add a && git commit -qm a");
  repo.sh(
      "git -c protocol.file.allow=always submodule --quiet add ../source sub"
      " && git commit -qm sub");
  const std::string commit = child("echo theirs > changed");
  repo.write("sub/a", "not committed there\n");
  EXPECT_EQ(merge(commit).how, Merged::How::merged);
  EXPECT_EQ(repo.read("sub/a"), "not committed there\n");
}

TEST_F(GitMerges, takes_back_only_a_merge_of_that_very_commit) {
  const std::string commit = child("echo theirs > changed");
  repo.sh("echo ours > changed && git commit -qam ours");
  repo.write("untracked", "stays\n");
  EXPECT_FALSE(repo.bench.abort_merge(repo.top(), commit).value()) << "there is none";
  const std::string before = repo.sh("git status --porcelain=v2 --branch");
  ASSERT_FALSE(repo.succeeds("git merge child"));
  EXPECT_FALSE(repo.bench.abort_merge(repo.top(), std::string(40, '1')).value());
  EXPECT_FALSE(repo.bench.abort_merge(repo.top(), "").value());
  EXPECT_EQ(repo.bench.state(repo.top())->merging, commit);
  repo.write(".git/index.lock", "");
  const auto held = repo.bench.abort_merge(repo.top(), commit);
  ASSERT_FALSE(held);
  EXPECT_TRUE(held.error().text.contains("if no git runs there, remove ")) << held.error().text;
  repo.sh("rm .git/index.lock");
  EXPECT_TRUE(repo.bench.abort_merge(repo.top(), commit).value());
  EXPECT_EQ(repo.sh("git status --porcelain=v2 --branch"), before);
  EXPECT_EQ(repo.read("changed"), "ours\n");
}

TEST_F(GitMerges, takes_back_a_merge_that_could_not_be_finished) {
  const std::string commit = child("echo theirs > changed");
  repo.write(".git/refs/heads/main.lock", "");
  const std::string before = repo.sh("git status --porcelain=v2 --branch");
  const Merged done = merge(commit);
  EXPECT_EQ(done.how, Merged::How::refused);
  EXPECT_TRUE(done.why.contains("main.lock")) << done.why;
  EXPECT_EQ(repo.sh("git status --porcelain=v2 --branch"), before);
  EXPECT_EQ(repo.read("changed"), "changed\n");
  repo.sh("rm .git/refs/heads/main.lock");
  EXPECT_EQ(merge(commit).how, Merged::How::merged);
}

TEST_F(GitMerges, says_that_a_merge_could_not_be_taken_back) {
  // A git that fails in the middle of a merge, and again where it should take it back.
  const ScratchFolder programs(TempDir());
  const std::string real = std::string("PATH=") + std::getenv("PATH") + " git";
  write_file(programs.path() + "/git",
             "#!/bin/sh\nfor a; do last=$a; done\ncase \"$1 $last\" in\n"
             "'merge --abort') exit 1 ;;\n"
             "'merge '*) " +
                 real +
                 " merge -q --no-ff --no-commit \"$last\"; exit 1 ;;\n"
                 "esac\n" +
                 real + " \"$@\"\n");
  std::filesystem::permissions(programs.path() + "/git", std::filesystem::perms::owner_all);
  const std::string commit = child("echo theirs > changed");
  {
    const Variable path("PATH", programs.path() + ":" + std::getenv("PATH"));
    const auto stuck = repo.bench.merge({.into = repo.top(), .commit = commit, .message = "m"});
    ASSERT_FALSE(stuck);
    EXPECT_TRUE(stuck.error().text.contains("could not be taken back: a merge is in progress"))
        << stuck.error().text;
  }
  EXPECT_TRUE(repo.bench.abort_merge(repo.top(), commit).value());
  EXPECT_EQ(merge(commit).how, Merged::How::merged);
}

}  // namespace
}  // namespace tend
