// Git in repositories and environments that try to have it do something else.
#include <gtest/gtest.h>

#include "os/linux/git_testing.h"

namespace tend {
namespace {

using testing::TempDir;

class GitHostile : public testing::Test {
 protected:
  /// A command that leaves a trace if it is run.
  [[nodiscard]] std::string trap() const { return "touch " + repo.scratch() + "/sprung"; }
  [[nodiscard]] bool sprung() const { return std::filesystem::exists(repo.scratch() + "/sprung"); }

  Repository repo{TempDir()};
};

TEST_F(GitHostile, runs_no_hook) {
  for (const std::string hook :
       {"pre-commit", "post-commit", "commit-msg", "prepare-commit-msg", "reference-transaction",
        "post-index-change", "fsmonitor-watchman", "pre-auto-gc", "post-checkout"}) {
    repo.write(".git/hooks/" + hook, "#!/bin/sh\n" + trap() + "\n");
    repo.sh("chmod +x .git/hooks/" + hook);
  }
  repo.sh("mkdir own && cp .git/hooks/* own/ && git config core.hooksPath own");
  std::filesystem::remove(repo.scratch() + "/sprung");
  repo.write("changed", "new\n");
  EXPECT_NE(repo.save().commit, "");
  EXPECT_FALSE(sprung());
}

TEST_F(GitHostile, runs_no_command_of_the_repositorys_configuration) {
  repo.write(".gitattributes", "* filter=one diff=one\nkept filter=a=b\ndeleted filter=x.y\n");
  repo.write("included", "[filter \"x.y\"]\nprocess = " + trap() + "\nrequired = true\n");
  for (const std::string name :
       {"filter.one.clean", "filter.one.smudge", "filter.a=b.process", "core.fsmonitor",
        "core.sshCommand", "core.editor", "core.pager", "gpg.program", "diff.one.command",
        "diff.one.textconv", "credential.helper", "core.askPass", "core.alternateRefsCommand"}) {
    repo.sh("git config '" + name + "' '" + trap() + "'");
  }
  repo.sh(
      "git config filter.one.required true && git config commit.gpgSign true"
      " && git config include.path ../included");
  for (const std::string name : {"changed", "kept", "deleted"}) repo.write(name, "new " + name);
  std::filesystem::remove(repo.scratch() + "/sprung");
  EXPECT_EQ(repo.save().files, 5U);
  EXPECT_FALSE(sprung());
  EXPECT_TRUE(repo.bench.changed_since(repo.top(), {}).value());
  EXPECT_FALSE(sprung());
  repo.sh("git config --unset-all core.pager");
  EXPECT_EQ(repo.sh("git cat-file blob refs/tend/coder/3:changed"), "new changed");
  EXPECT_EQ(repo.sh("git cat-file blob refs/tend/coder/3:kept"), "new kept");
  EXPECT_EQ(repo.sh("git cat-file blob refs/tend/coder/3:deleted"), "new deleted");
}

TEST_F(GitHostile, runs_the_filters_of_the_user) {
  repo.sh("git config --global filter.upper.clean 'tr a-z A-Z'");
  repo.write(".gitattributes", "changed filter=upper\n");
  repo.write("changed", "new\n");
  repo.save();
  EXPECT_EQ(repo.saved("changed"), "NEW\n");
}

TEST_F(GitHostile, saves_files_as_they_stand_if_a_filter_of_the_user_fails) {
  repo.sh(
      "git config --global filter.gone.clean /nowhere/program"
      " && git config --global filter.gone.required true");
  repo.write(".gitattributes", "* filter=gone\n");
  repo.write("changed", "new\n");
  repo.write("untracked", "new\n");
  const Snapshot saved = repo.save();
  EXPECT_EQ(saved.files, 3U);
  EXPECT_TRUE(saved.left_out.empty());
  EXPECT_EQ(repo.saved("changed"), "new\n");
}

TEST_F(GitHostile, fetches_nothing_that_a_partial_clone_lacks) {
  repo.write("folder/file", "old\n");
  repo.sh("git add -A && git commit -qm folder");
  repo.sh(
      "git config remote.origin.url 'ext::" + trap() +
      "'"
      " && git config remote.origin.promisor true && git config protocol.ext.allow always"
      " && git config remote.origin.partialclonefilter blob:none"
      " && git config core.repositoryformatversion 1 && git config extensions.partialClone origin");
  const std::string tree = repo.sh("git rev-parse HEAD:folder");
  repo.sh("rm -f .git/objects/" + tree.substr(0, 2) + "/" + tree.substr(2, 38));
  repo.write("folder/file", "new\n");
  EXPECT_EQ(repo.save().files, 1U);
  EXPECT_EQ(repo.saved("folder/file"), "new\n");
  EXPECT_FALSE(sprung());
}

TEST_F(GitHostile, ignores_where_the_environment_points) {
  repo.sh("git init -q ../other");
  const std::string other = repo.scratch() + "/other";
  const Variable folder("GIT_DIR", other + "/.git");
  const Variable tree("GIT_WORK_TREE", other);
  const Variable index("GIT_INDEX_FILE", other + "/index");
  const Variable objects("GIT_OBJECT_DIRECTORY", other + "/objects");
  const Variable ceiling("GIT_CEILING_DIRECTORIES", repo.scratch());
  const Variable space("GIT_NAMESPACE", "elsewhere");
  const Variable literal("GIT_CONFIG_COUNT", "broken");
  const Variable trace("GIT_TRACE", other + "/trace");
  repo.write("changed", "new\n");
  const auto saved = repo.bench.snapshot(repo.order());
  ASSERT_TRUE(saved) << saved.error().text;
  EXPECT_EQ(saved->files, 1U);
  EXPECT_TRUE(std::filesystem::exists(repo.path(".git/refs/tend/coder/3")));
  EXPECT_FALSE(std::filesystem::exists(other + "/index"));
  EXPECT_FALSE(std::filesystem::exists(other + "/trace"));
}

TEST_F(GitHostile, saves_the_work_tree_and_not_where_the_configuration_points) {
  repo.sh(
      "mkdir ../private && echo secret > ../private/key && git config core.worktree ../../private");
  repo.write("changed", "new\n");
  EXPECT_EQ(repo.save().files, 1U);
  EXPECT_FALSE(repo.has_saved("key"));
}

TEST_F(GitHostile, takes_no_folder_that_looks_like_a_bare_repository_for_one) {
  repo.sh("git init -q --bare ../bare && git -C ../bare config core.fsmonitor '" + trap() +
          "'"
          " && git -C ../bare config core.bare false");
  SnapshotOrder order = repo.order();
  order.worktree = repo.scratch() + "/bare";
  EXPECT_FALSE(repo.save(order).versioned);
  EXPECT_TRUE(repo.bench.changed_since(order.worktree, {}).value());
  EXPECT_FALSE(sprung());
}

TEST_F(GitHostile, refuses_a_repository_of_somebody_else) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  repo.write("changed", "new\n");
  repo.sh("chown -R 65534 .");
  const auto saved = repo.bench.snapshot(repo.order());
  ASSERT_FALSE(saved);
  EXPECT_TRUE(saved.error().text.contains("belongs to somebody else")) << saved.error().text;
  EXPECT_TRUE(saved.error().text.contains("safe.directory")) << saved.error().text;
  repo.sh("git config --global --add safe.directory " + repo.top());
  EXPECT_EQ(repo.save().files, 1U);
}

TEST_F(GitHostile, follows_no_ref_to_another_one) {
  repo.write("changed", "new\n");
  repo.sh("git symbolic-ref refs/tend/coder/3 refs/heads/main");
  const std::string main = repo.sh("git rev-parse main");
  EXPECT_EQ(repo.save().ref, "refs/tend/coder/3-2");
  EXPECT_EQ(repo.sh("git rev-parse main"), main);
}

/// Work trees, commits and merges in repositories that try the same.
class GitHostileTrees : public GitHostile {
 protected:
  GitHostileTrees() {
    repo.sh("git checkout -qb child && echo theirs > changed && git commit -qam child");
    repo.sh("git checkout -q main && echo ours > kept && git commit -qam ours");
  }
  [[nodiscard]] MergeOrder child() const {
    return {.into = repo.top(), .commit = "child", .message = "Merge"};
  }
  [[nodiscard]] CommitOrder work() const { return {.worktree = repo.top(), .message = "Work"}; }
  [[nodiscard]] WorktreeOrder tree() const {
    return {.repository = repo.top(), .path = repo.scratch() + "/new", .branch = "new", .from = ""};
  }
};

TEST_F(GitHostileTrees, run_no_hook_and_sign_nothing) {
  for (const std::string hook :
       {"pre-commit", "post-commit", "commit-msg", "prepare-commit-msg", "reference-transaction",
        "post-index-change", "pre-merge-commit", "post-merge", "post-checkout", "post-rewrite"}) {
    repo.write(".git/hooks/" + hook, "#!/bin/sh\n" + trap() + "\nexit 1\n");
  }
  repo.sh(
      "git config commit.gpgSign true && git config merge.verifySignatures true"
      " && git config gpg.program '" +
      trap() + "; false' && git config core.editor '" + trap() + "; false'");
  repo.sh("chmod +x .git/hooks/*");
  EXPECT_TRUE(repo.bench.make_worktree(tree()));
  EXPECT_EQ(repo.bench.merge(child())->how, Merged::How::merged);
  repo.write("changed", "new\n");
  EXPECT_NE(repo.bench.commit(work())->commit, "");
  EXPECT_TRUE(repo.bench.state(repo.top()));
  EXPECT_EQ(repo.bench.saved(repo.top())->size(), 0U);
  EXPECT_FALSE(sprung());
}

TEST_F(GitHostileTrees, refuse_filters_that_the_repository_defines_where_they_would_matter) {
  repo.sh("git config filter.one.smudge '" + trap() + "' && git config filter.one.clean '" +
          trap() + "' && git config filter.one.required true");
  EXPECT_TRUE(repo.bench.make_worktree(tree())) << "no attribute names it";
  repo.write(".gitattributes", "* filter=one\n");
  repo.write("changed", "new\n");
  const std::string before = repo.sh("sha1sum .git/index; git rev-parse HEAD");
  const auto committed = repo.bench.commit(work());
  ASSERT_TRUE(committed);
  EXPECT_EQ(committed->refused,
            "its filter 'one' is defined by the repository and is not run; do this by hand");
  EXPECT_EQ(repo.sh("sha1sum .git/index; git rev-parse HEAD"), before);
  EXPECT_FALSE(sprung());

  repo.sh(
      "export GIT_CONFIG_PARAMETERS=\"'filter.one.clean=' 'filter.one.required=false'\""
      " && git add -A && git commit -qm attributes");
  WorktreeOrder another = tree();
  another.path += "er";
  another.branch += "er";
  const auto made = repo.bench.make_worktree(another);
  ASSERT_FALSE(made);
  EXPECT_TRUE(made.error().text.contains("its filter 'one' is defined by the repository"));
  const auto merged = repo.bench.merge(child());
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->how, Merged::How::refused);
  EXPECT_TRUE(merged->why.contains("its filter 'one' is defined by the repository"));
  EXPECT_FALSE(sprung());
}

TEST_F(GitHostileTrees, refuse_filters_that_the_merge_would_bring) {
  repo.sh("git config filter.one.smudge '" + trap() + "'");
  repo.sh(
      "git checkout -q child && echo '* filter=one' > .gitattributes && git add -A"
      " && git -c filter.one.smudge= commit -qm attributes"
      " && git -c filter.one.smudge= checkout -q main && rm -f ../sprung");
  EXPECT_EQ(repo.bench.merge(child())->how, Merged::How::refused);
  EXPECT_FALSE(sprung());
}

TEST_F(GitHostileTrees, run_no_merge_driver_of_the_repository) {
  repo.sh("git config merge.mine.driver '" + trap() + "'");
  repo.sh("echo ours > changed && git commit -qam ours");
  repo.write(".git/info/attributes", "changed merge=mine\n");
  EXPECT_TRUE(repo.bench.merge(child())->why.contains("its merge driver 'mine' is defined by"));
  EXPECT_FALSE(sprung());
  repo.sh("rm .git/info/attributes && git config merge.default mine");
  EXPECT_EQ(repo.bench.merge(child())->how, Merged::How::conflict);
  EXPECT_EQ(repo.read("changed"), "ours\n");
  EXPECT_FALSE(sprung());
}

TEST_F(GitHostileTrees, run_the_filters_of_the_user) {
  repo.sh(
      "git config --global filter.upper.clean 'tr a-z A-Z'"
      " && git config --global filter.upper.smudge 'tr A-Z a-z'");
  repo.write(".gitattributes", "changed filter=upper\n");
  repo.write("changed", "new\n");
  EXPECT_NE(repo.bench.commit(work())->commit, "");
  EXPECT_EQ(repo.sh("git cat-file blob HEAD:changed"), "NEW\n");
  EXPECT_TRUE(repo.bench.make_worktree(tree()));
  EXPECT_EQ(read_file(repo.scratch() + "/new/changed"), "new\n");
}

TEST_F(GitHostileTrees, leave_out_what_a_filter_of_the_user_cannot_take) {
  repo.sh(
      "git config --global filter.gone.clean /nowhere/program"
      " && git config --global filter.gone.required true");
  repo.write(".gitattributes", "changed filter=gone\n");
  repo.write("changed", "new\n");
  repo.write("good", "new\n");
  const auto done = repo.bench.commit(work());
  ASSERT_TRUE(done) << done.error().text;
  ASSERT_EQ(done->left_out.size(), 1U);
  EXPECT_TRUE(done->left_out[0].starts_with("changed: ")) << done->left_out[0];
  EXPECT_EQ(repo.sh("git show HEAD:good"), "new\n");
}

TEST_F(GitHostileTrees, run_nothing_of_a_submodule) {
  repo.sh("git init -q ../source && cd ../source && touch a && git add a && git commit -qm a");
  repo.sh(
      "git -c protocol.file.allow=always submodule --quiet add ../source sub"
      " && git commit -qm sub && git -C sub config core.fsmonitor '" +
      trap() + "' && rm -f ../sprung");
  EXPECT_TRUE(repo.bench.state(repo.top()));
  EXPECT_EQ(repo.bench.merge(child())->how, Merged::How::merged);
  repo.write("changed", "new\n");
  EXPECT_NE(repo.bench.commit(work())->commit, "");
  EXPECT_FALSE(sprung());
}

TEST_F(GitHostileTrees, refuse_a_repository_of_somebody_else) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  repo.sh("chown -R 65534 .");
  const auto told = repo.bench.state(repo.top());
  ASSERT_FALSE(told);
  EXPECT_TRUE(told.error().text.contains("belongs to somebody else")) << told.error().text;
}

}  // namespace
}  // namespace tend
