// Git against real repositories in every state that work is left in.
#include "os/linux/git.h"

#include <gtest/gtest.h>

#include "os/linux/git_testing.h"

namespace tend {
namespace {

using testing::TempDir;

class GitTest : public testing::Test {
 protected:
  Repository repo{TempDir()};
};

std::string all(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST_F(GitTest, saves_what_changed_and_touches_nothing) {
  repo.write("changed", "new text\n");
  repo.write("folder/untracked", "not added yet\n");
  repo.write("staged", "staged\n");
  repo.sh("git add staged && rm deleted && echo more >> staged && mkdir build");
  repo.write("build/output", "ignored\n");
  repo.write("x.o", "ignored\n");
  repo.sh("git stash store -m kept $(git stash create)");
  const std::string before = repo.untouched();

  const Snapshot saved = repo.save();

  EXPECT_TRUE(saved.versioned);
  EXPECT_EQ(saved.ref, "refs/tend/coder/3");
  EXPECT_EQ(saved.files, 4U);
  EXPECT_TRUE(saved.left_out.empty()) << all(saved.left_out);
  EXPECT_EQ(repo.untouched(), before);
  EXPECT_EQ(repo.sh("git rev-parse refs/tend/coder/3"), saved.commit + "\n");
  EXPECT_EQ(repo.sh("git rev-parse refs/tend/coder/3^@"), repo.sh("git rev-parse HEAD"));
  EXPECT_EQ(repo.sh("git log -1 --format='%an %ae %cn %s' refs/tend/coder/3"),
            "Tend tend@localhost Tend Work of coder\n");
  EXPECT_EQ(repo.sh("git diff --name-status HEAD refs/tend/coder/3"),
            "M\tchanged\nD\tdeleted\nA\tfolder/untracked\nA\tstaged\n");
  EXPECT_EQ(repo.saved("changed"), "new text\n");
  EXPECT_EQ(repo.saved("staged"), "staged\nmore\n");
  EXPECT_EQ(repo.sh("git fsck --strict 2>&1 | grep -v ^dangling; true"), "");
}

TEST_F(GitTest, saves_nothing_where_all_is_committed) {
  repo.write("x.o", "ignored\n");
  const Snapshot saved = repo.save();
  EXPECT_TRUE(saved.versioned);
  EXPECT_EQ(saved.commit, "");
  EXPECT_EQ(saved.files, 0U);
  EXPECT_FALSE(repo.has_saved(""));
}

TEST_F(GitTest, never_moves_a_ref_that_exists) {
  repo.write("changed", "one\n");
  const Snapshot first = repo.save();
  EXPECT_EQ(repo.save().commit, first.commit) << "the same tree is not saved twice";
  repo.write("changed", "two\n");
  const Snapshot second = repo.save();
  EXPECT_EQ(second.ref, "refs/tend/coder/3-2");
  EXPECT_EQ(repo.sh("git show refs/tend/coder/3:changed"), "one\n");
  EXPECT_EQ(repo.saved("changed"), "two\n");
  EXPECT_EQ(repo.save().ref, second.ref);
  repo.sh("git checkout -q -- changed");
  EXPECT_EQ(repo.save().commit, "");
  EXPECT_EQ(repo.sh("git rev-parse refs/tend/coder/3"), first.commit + "\n");
  EXPECT_EQ(repo.sh("git rev-parse refs/tend/coder/3-2"), second.commit + "\n");
}

TEST_F(GitTest, takes_the_number_behind_the_largest) {
  for (const char* const name : {"3", "3-7", "3-x", "3-1", "30", "3-09999999999999999999"}) {
    repo.sh(std::string("git update-ref refs/tend/coder/") + name + " HEAD");
  }
  repo.write("changed", "new\n");
  EXPECT_EQ(repo.save().ref, "refs/tend/coder/3-8");
  repo.sh("git pack-refs --all && mkdir .git/refs/tend/coder && touch .git/refs/tend/coder/3-9");
  repo.write("changed", "newer\n");
  EXPECT_EQ(repo.save().ref, "refs/tend/coder/3-10") << "a ref that is broken is not touched";
}

TEST_F(GitTest, saves_before_the_first_commit) {
  repo.sh("git checkout -q --orphan other && git rm -q --cached kept");
  repo.sh("rm .git/index");
  const Snapshot saved = repo.save();
  EXPECT_EQ(saved.files, 4U);
  EXPECT_EQ(repo.sh("git rev-list --parents refs/tend/coder/3"), saved.commit + "\n");
  EXPECT_EQ(repo.saved("kept"), "kept\n");
}

TEST_F(GitTest, saves_on_a_detached_head) {
  repo.sh("git checkout -q --detach");
  repo.write("changed", "new\n");
  const std::string before = repo.untouched();
  repo.save();
  EXPECT_EQ(repo.saved("changed"), "new\n");
  EXPECT_EQ(repo.untouched(), before);
}

TEST_F(GitTest, saves_conflicts_as_they_stand) {
  repo.sh(
      "git checkout -qb other && echo theirs > changed && git rm -q deleted && git commit -qam b");
  repo.sh("git checkout -q main && echo ours > changed && echo x >> deleted && git commit -qam a");
  for (const std::string begin : {"merge other", "rebase other", "cherry-pick other"}) {
    ASSERT_FALSE(repo.succeeds("git " + begin)) << begin;
    repo.sh("rm -f deleted");
    const std::string before = repo.untouched();
    repo.save();
    EXPECT_EQ(repo.untouched(), before) << begin;
    EXPECT_TRUE(repo.saved("changed").starts_with("<<<<<<< ")) << begin;
    EXPECT_FALSE(repo.has_saved("deleted")) << begin;
    repo.sh("git " + begin.substr(0, begin.find(' ')) + " --abort");
  }
}

TEST_F(GitTest, saves_a_linked_work_tree_where_the_main_one_sees_it) {
  repo.sh("git worktree add -q ../linked -b linked");
  SnapshotOrder order = repo.order();
  order.worktree = repo.scratch() + "/linked";
  write_file(order.worktree + "/changed", "in the linked one\n");
  const std::string before = repo.sh_in(order.worktree, "git status --porcelain");
  repo.save(order);
  EXPECT_EQ(repo.saved("changed"), "in the linked one\n");
  EXPECT_EQ(repo.read("changed"), "changed\n");
  EXPECT_EQ(repo.sh_in(order.worktree, "git status --porcelain"), before);
  EXPECT_EQ(repo.sh("ls .git/worktrees/linked | grep tend; true"), "");
}

TEST_F(GitTest, saves_the_whole_tree_when_asked_for_a_folder_of_it) {
  repo.write("folder/deep/file", "a\n");
  repo.write("changed", "b\n");
  SnapshotOrder order = repo.order();
  order.worktree = repo.path("folder/deep");
  EXPECT_EQ(repo.save(order).files, 2U);
  EXPECT_EQ(repo.saved("changed"), "b\n");
}

TEST_F(GitTest, minds_no_lock_that_a_crash_left) {
  repo.write(".git/index.lock", "");
  repo.write(".git/HEAD.lock", "");
  repo.write("changed", "new\n");
  repo.save();
  EXPECT_EQ(repo.saved("changed"), "new\n");
  EXPECT_TRUE(std::filesystem::exists(repo.path(".git/index.lock")));
}

TEST_F(GitTest, does_without_an_index_that_can_be_read) {
  repo.write("changed", "new\n");
  repo.write(".git/index", "torn");
  EXPECT_EQ(repo.save().files, 1U);
  EXPECT_EQ(repo.read(".git/index"), "torn");
  repo.sh("rm .git/index; echo newer > changed");
  EXPECT_EQ(repo.save().files, 1U);
  EXPECT_FALSE(std::filesystem::exists(repo.path(".git/index")));
}

TEST_F(GitTest, saves_names_of_every_kind) {
  const std::vector<std::string> names{"\x01",        "-n",         ":(glob)*",
                                       "? x",         "a b\t\"c\"", "back\\slash",
                                       "caf\xc3\xa9", "caf\xe9",    "two\nlines"};  // sorted
  for (const std::string& name : names) repo.write(name, "new\n");
  EXPECT_EQ(repo.save().files, names.size());
  std::string listed;
  for (const std::string& name : names) listed += name + '\0';
  EXPECT_EQ(repo.sh("git diff --name-only -z HEAD refs/tend/coder/3"), listed);
  // And again, now that they are tracked.
  repo.sh("git add -A && git commit -qm names");
  for (const std::string& name : names) repo.write(name, "newer\n");
  EXPECT_EQ(repo.save().files, names.size());
}

TEST_F(GitTest, leaves_out_large_untracked_files_and_says_so) {
  repo.write("small", "12345678");
  repo.write("large", "123456789");
  repo.write("changed", "tracked files are saved at any size");
  SnapshotOrder order = repo.order();
  order.largest_file = 8;
  const Snapshot saved = repo.save(order);
  EXPECT_EQ(saved.files, 2U);
  ASSERT_EQ(saved.left_out.size(), 1U);
  EXPECT_TRUE(saved.left_out[0].starts_with("large: ")) << saved.left_out[0];
  EXPECT_FALSE(repo.has_saved("large"));
}

TEST_F(GitTest, leaves_out_repositories_in_the_repository_and_says_so) {
  repo.sh("git init -q inner && cd inner && touch a && git add a && git commit -qm inner");
  repo.write("changed", "new\n");
  const Snapshot saved = repo.save();
  EXPECT_EQ(saved.files, 1U);
  EXPECT_EQ(all(saved.left_out), "inner/: a repository of its own\n");
}

TEST_F(GitTest, saves_of_a_submodule_only_its_commit) {
  repo.sh("git init -q ../source && cd ../source && touch a && git add a && git commit -qm a");
  repo.sh(
      "git -c protocol.file.allow=always submodule --quiet add ../source sub"
      " && git commit -qm sub");
  repo.write("sub/a", "not committed\n");
  EXPECT_EQ(repo.save().commit, "");
  repo.sh("cd sub && git commit -qam moved");
  const std::string before = repo.untouched();
  const Snapshot saved = repo.save();
  EXPECT_EQ(saved.files, 1U);
  EXPECT_EQ(repo.sh("git rev-parse refs/tend/coder/3:sub"), repo.sh("git -C sub rev-parse HEAD"));
  EXPECT_EQ(all(saved.left_out),
            "sub: a repository of its own, of which only the commit is saved\n");
  EXPECT_EQ(repo.untouched(), before);
}

TEST_F(GitTest, leaves_out_what_is_excluded) {
  repo.write("ours/state", "x");
  repo.write("oursnot", "x");
  repo.write("changed", "new\n");
  repo.sh("ln -s tree/ours ../ours-link");
  SnapshotOrder order = repo.order();
  order.exclude = {repo.scratch() + "/ours-link/", repo.path("changed"), repo.scratch(),
                   "/nowhere"};
  EXPECT_EQ(repo.save(order).files, 1U);
  EXPECT_TRUE(repo.has_saved("oursnot"));
}

TEST_F(GitTest, takes_files_out_of_a_sparse_checkout_for_unchanged) {
  repo.write("inside/a", "a\n");
  repo.write("outside/b", "b\n");
  repo.sh("git add -A && git commit -qm more && git sparse-checkout set inside");
  ASSERT_FALSE(std::filesystem::exists(repo.path("outside/b")));
  EXPECT_EQ(repo.save().commit, "");
  repo.write("inside/a", "new\n");
  EXPECT_EQ(repo.save().files, 1U);
  repo.write("inside/a", "newer\n");
  repo.sh("rm .git/index");
  EXPECT_EQ(repo.save().files, 1U) << "without an index nothing says what is outside";
}

TEST_F(GitTest, saves_files_that_are_claimed_to_be_unchanged) {
  repo.sh(
      "git update-index --assume-unchanged changed && git update-index --skip-worktree kept"
      " && git update-index --skip-worktree deleted && git update-index --assume-unchanged deleted"
      " && rm deleted");
  repo.write("changed", "new\n");
  repo.write("kept", "new\n");
  const std::string before = repo.untouched();
  EXPECT_EQ(repo.save().files, 2U);
  EXPECT_EQ(repo.saved("changed") + repo.saved("kept"), "new\nnew\n");
  EXPECT_EQ(repo.untouched(), before);
}

TEST_F(GitTest, sees_a_change_that_size_and_time_hide) {
  repo.sh(
      "git config core.trustctime false && touch -d @1000000000 changed"
      " && git update-index --refresh && touch -d @1000000000 .git/index"
      " && echo CHANGED > changed && touch -d @1000000000 changed .git/index");
  EXPECT_EQ(repo.save().files, 1U);
}

TEST_F(GitTest, saves_files_that_became_folders_and_folders_that_became_files_or_links) {
  repo.write("one/file", "1\n");
  repo.write("two/file", "2\n");
  repo.write("elsewhere/file", "3\n");
  repo.sh("git add -A && git commit -qm folders");
  repo.sh(
      "rm -r one two && echo file > one && ln -s elsewhere two"
      " && rm kept && mkdir kept && echo inside > kept/file && rm deleted && mkfifo deleted");
  const std::string before = repo.untouched();
  const Snapshot saved = repo.save();
  EXPECT_EQ(all(saved.left_out), "deleted: neither a file nor a link\n");
  EXPECT_EQ(repo.saved("one") + repo.saved("two") + repo.saved("kept/file"),
            "file\nelsewhereinside\n");
  EXPECT_EQ(repo.saved("deleted"), "deleted\n") << "as it was committed";
  EXPECT_EQ(repo.untouched(), before);
  EXPECT_EQ(repo.sh("git fsck --strict 2>&1 | grep -v ^dangling; true"), "");
}

TEST_F(GitTest, leaves_out_only_the_file_that_git_cannot_take) {
  repo.write(".gitattributes", "bad* working-tree-encoding=UTF-16LE\n");
  for (int i = 0; i < 20; ++i) repo.write("good" + std::to_string(i), "x\n");
  repo.write("bad1", "odd");
  repo.write("bad2", "odd");
  repo.write("git~1", "git takes this for .git\n");
  const Snapshot saved = repo.save();
  EXPECT_EQ(saved.files, 21U);
  ASSERT_EQ(saved.left_out.size(), 3U) << all(saved.left_out);
  EXPECT_TRUE(all(saved.left_out).contains("bad1: ")) << all(saved.left_out);
  EXPECT_TRUE(all(saved.left_out).contains("bad2: ")) << all(saved.left_out);
  EXPECT_TRUE(all(saved.left_out).contains("git~1")) << all(saved.left_out);
}

TEST_F(GitTest, leaves_out_what_cannot_be_read_and_says_so) {
  if (::geteuid() == 0) GTEST_SKIP() << "root can read everything";
  repo.write("shut/tracked", "x");
  repo.sh("git add shut && git commit -qm shut");
  repo.write("secret", "x");
  repo.write("closed/file", "x");
  repo.write("changed", "new\n");
  repo.sh("chmod 0 secret closed shut");
  const Snapshot saved = repo.save();
  repo.sh("chmod 700 closed shut");
  EXPECT_EQ(saved.files, 1U) << "what cannot be seen is not deleted";
  EXPECT_TRUE(all(saved.left_out).contains("shut/tracked: ")) << all(saved.left_out);
  EXPECT_TRUE(all(saved.left_out).contains("secret: cannot be read")) << all(saved.left_out);
  EXPECT_TRUE(all(saved.left_out).contains("closed")) << all(saved.left_out);
}

TEST_F(GitTest, works_with_every_format_of_index_and_object) {
  repo.sh(
      "git config core.splitIndex true && git config core.untrackedCache true"
      " && git update-index --split-index && git status");
  repo.write("changed", "new\n");
  const std::string before = repo.untouched();
  EXPECT_EQ(repo.save().files, 1U);
  EXPECT_EQ(repo.untouched(), before);

  SnapshotOrder order = repo.order();
  order.worktree = repo.scratch() + "/long";
  repo.sh(
      "git init -q --object-format=sha256 ../long && cd ../long && touch a b && git add a b"
      " && git commit -qm a && rm a && echo b > b");
  EXPECT_EQ(repo.save(order).files, 2U);
  repo.sh_in(order.worktree, "git update-index --force-remove b");
  EXPECT_EQ(repo.save(order).files, 2U);
}

TEST_F(GitTest, leaves_no_index_behind_when_it_is_taken_back) {
  repo.write("changed", "new\n");
  Subscribed asked = repo.bench.git.snapshot(repo.order(), [](const auto&) { FAIL(); });
  for (int i = 0; i < 10; ++i) repo.sh("true");  // the snapshot goes on meanwhile, some way
  asked.reset();
  EXPECT_EQ(repo.sh("ls .git | grep tend; true"), "");
}

TEST_F(GitTest, leaves_the_index_of_another_snapshot_alone) {
  repo.write(".git/tend-index-0", "");
  repo.save();
  EXPECT_TRUE(std::filesystem::exists(repo.path(".git/tend-index-0")));
}

TEST_F(GitTest, says_that_there_is_no_version_control) {
  SnapshotOrder order = repo.order();
  order.worktree = repo.scratch();
  EXPECT_FALSE(repo.save(order).versioned);

  const ScratchFolder programs(TempDir());
  std::filesystem::create_symlink("/usr/bin/env", programs.path() + "/env");
  const Variable path("PATH", programs.path());
  EXPECT_FALSE(repo.save().versioned) << "no git program";
}

TEST_F(GitTest, says_why_a_repository_cannot_be_saved) {
  repo.write("changed", "new\n");
  repo.sh("mv .git/refs .git/lost");
  const auto saved = repo.bench.snapshot(repo.order());
  ASSERT_FALSE(saved);
  EXPECT_TRUE(saved.error().text.contains("not a git repository")) << saved.error().text;
}

WallTime changed_at(const std::string& path) {
  struct stat facts{};
  CHECK(::lstat(path.c_str(), &facts) == 0);
  return WallTime{std::chrono::seconds{facts.st_ctim.tv_sec} +
                  std::chrono::nanoseconds{facts.st_ctim.tv_nsec}};
}

class GitChanges : public GitTest {
 protected:
  // Files are older than this; what is written from now on is not.
  WallTime settled() {
    write_file(repo.scratch() + "/marker", "");
    const WallTime now = changed_at(repo.scratch() + "/marker");
    do {
      write_file(repo.scratch() + "/marker", "again");
    } while (changed_at(repo.scratch() + "/marker") == now);
    return changed_at(repo.scratch() + "/marker") - std::chrono::nanoseconds{1};
  }
  bool changed(WallTime since, const std::vector<std::string>& exclude = {}) {
    const auto answer = repo.bench.changed_since(repo.top(), since, exclude);
    EXPECT_TRUE(answer) << answer.error().text;
    return answer.value_or(false);
  }
};

TEST_F(GitChanges, sees_files_that_changed_whether_committed_or_not) {
  const WallTime since = settled();
  EXPECT_FALSE(changed(since));
  repo.write("folder/untracked", "");
  EXPECT_TRUE(changed(since));
  repo.sh("git add -A && git commit -qm all");
  EXPECT_TRUE(changed(since));
  EXPECT_FALSE(changed(settled()));
}

TEST_F(GitChanges, sees_a_file_whose_time_was_set_back) {
  const WallTime since = settled();
  repo.sh("touch -d @1000000000 changed");
  EXPECT_TRUE(changed(since));
}

TEST_F(GitChanges, says_nothing_of_a_file_whose_time_is_still_to_come) {
  repo.sh("touch -d '+1 hour' changed");
  const WallTime since = settled();
  EXPECT_FALSE(changed(since));
  repo.sh("touch -d '+2 hours' changed");
  EXPECT_TRUE(changed(since)) << "it was changed now, whatever time it was given";
}

TEST_F(GitChanges, passes_over_what_is_ignored_excluded_or_of_git) {
  const WallTime since = settled();
  repo.write("build/deep/output", "x");
  repo.write("src/x.o", "x");
  repo.write("ours/state", "x");
  repo.write(".git/any", "x");
  EXPECT_FALSE(changed(since, {repo.path("ours")}));
  EXPECT_TRUE(changed(since));
}

TEST_F(GitChanges, looks_at_the_folder_it_is_asked_for) {
  repo.write("one/build/x", "");
  repo.write("two/x", "");
  const WallTime since = settled();
  repo.write("one/build/y", "");
  repo.write("two/y", "");
  const auto in = [&](const std::string& name) {
    return repo.bench.changed_since(repo.path(name), since);
  };
  EXPECT_FALSE(in("one").value());
  EXPECT_TRUE(in("two").value());
  EXPECT_FALSE(in("nowhere"));
}

TEST_F(GitChanges, works_without_version_control) {
  const WallTime since = settled();
  repo.sh("rm -rf .git");
  EXPECT_FALSE(changed(since));
  repo.write("x.o", "nobody ignores it");
  EXPECT_TRUE(changed(since));
}

TEST_F(GitTest, finds_the_top_of_a_work_tree) {
  repo.write("folder/file", "");
  repo.sh("git worktree add -q ../linked && ln -s tree/folder ../link && mkdir ../plain");
  Git& git = repo.bench.git;
  EXPECT_EQ(git.top(repo.top()), repo.top());
  EXPECT_EQ(git.top(repo.path("folder")), repo.top());
  EXPECT_EQ(git.top(repo.scratch() + "/link"), repo.top());
  EXPECT_EQ(git.top(repo.scratch() + "/linked"), repo.scratch() + "/linked");
  EXPECT_EQ(git.top(repo.scratch() + "/plain"), repo.scratch() + "/plain");
  EXPECT_EQ(git.repository(repo.path("folder")), repo.top());
  EXPECT_EQ(git.repository(repo.scratch() + "/plain"), "");
  EXPECT_EQ(git.top(repo.scratch() + "/missing"), repo.scratch() + "/missing");
}

}  // namespace
}  // namespace tend
