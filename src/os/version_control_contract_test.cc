// What version control promises, asserted with git and on the simulated machine: what is
// proven there works here.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "os/linux/git_testing.h"
#include "os/sim/sim_universe.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class WithGit {
 public:
  [[nodiscard]] std::string top() const { return repo_.top(); }
  [[nodiscard]] std::string beside(const std::string& name) const {
    return repo_.scratch() + "/" + name;
  }
  static void write(const std::string& path, const std::string& text) { write_file(path, text); }
  static void remove(const std::string& path) { std::filesystem::remove(path); }
  static std::optional<std::string> read(const std::string& path) {
    if (!std::filesystem::exists(path)) return std::nullopt;
    return read_file(path);
  }
  void hold_index() { repo_.write(".git/index.lock", ""); }
  void release_index() { remove(repo_.path(".git/index.lock")); }
  void leave_branch() { repo_.sh("git checkout -q --detach"); }
  void forget_commits() { repo_.sh("git checkout -q --orphan main2 && git rm -rqf ."); }
  /// A merge of this commit is in its middle.
  void leave_merge(const std::string& commit) {
    repo_.sh("git merge -q --no-ff --no-commit " + commit);
  }
  template <class Answer, class Ask>
  Answer ask(Ask question) {
    return repo_.bench.template wait_for<Answer>(
        [&](auto done) { return question(repo_.bench.git, done); });
  }

 private:
  Repository repo_{testing::TempDir()};
};

class WithSim {
 public:
  WithSim() {
    tree().ignored = {"build"};
    for (const std::string name : {"kept", "changed", "deleted"}) {
      write(top() + "/" + name, name + "\n");
      tree().head[name] = name + "\n";
    }
  }
  [[nodiscard]] static std::string top() { return "/home/user/tree"; }
  [[nodiscard]] static std::string beside(const std::string& name) { return "/home/user/" + name; }
  void write(const std::string& path, const std::string& text) { universe_.disk.write(path, text); }
  void remove(const std::string& path) { universe_.disk.remove(path); }
  std::optional<std::string> read(const std::string& path) { return universe_.disk.read(path); }
  void hold_index() { tree().index_held = true; }
  void release_index() { tree().index_held = false; }
  void leave_branch() { tree().branch = ""; }
  void forget_commits() {
    for (const std::string name : {"kept", "changed", "deleted"}) remove(top() + "/" + name);
    tree().head.clear();
    tree().commit = "";
    tree().branch = "main2";
  }
  void leave_merge(const std::string& commit) { tree().merging = commit; }
  template <class Answer, class Ask>
  Answer ask(Ask question) {
    std::optional<Answer> answer;
    const Subscribed asked = question(universe_.machine().version_control,
                                      [&](Answer told) { answer = std::move(told); });
    universe_.run_for(1s);
    return answer.value();
  }

 private:
  SimRepository& tree() { return universe_.repositories[top()]; }

  SimUniverse universe_;
};

template <class Which>
class VersionControlContract : public testing::Test {
 protected:
  template <class Answer, class Ask>
  Answer must(Ask question) {
    auto told = which.template ask<Result<Answer>>(question);
    EXPECT_TRUE(told) << told.error().text;
    return std::move(told).value_or(Answer{});
  }
  WorktreeState state(const std::string& path) {
    return must<WorktreeState>([&](auto& with, auto done) { return with.state(path, done); });
  }
  Result<WorktreeState> make(const WorktreeOrder& order) {
    return which.template ask<Result<WorktreeState>>(
        [&](auto& with, auto done) { return with.make_worktree(order, done); });
  }
  Committed commit(const std::string& path) {
    const CommitOrder order{.worktree = path, .message = "Work", .exclude = {path + "/ours"}};
    return must<Committed>([&](auto& with, auto done) { return with.commit(order, done); });
  }
  Merged merge(const std::string& commit) {
    const MergeOrder order{.into = which.top(), .commit = commit, .message = "Merge"};
    return must<Merged>([&](auto& with, auto done) { return with.merge(order, done); });
  }
  bool abort_merge(const std::string& commit) {
    return must<bool>(
        [&](auto& with, auto done) { return with.abort_merge(which.top(), commit, done); });
  }
  bool contains(const std::string& commit) {
    return must<bool>(
        [&](auto& with, auto done) { return with.contains(which.top(), commit, done); });
  }

  [[nodiscard]] WorktreeOrder order(const std::string& name = "child") {
    return {.repository = which.top(), .path = which.beside(name), .branch = name, .from = ""};
  }
  /// A child that wrote one file and committed it.
  std::string child_writes(const std::string& file, const std::string& text) {
    const auto made = make(order());
    EXPECT_TRUE(made) << made.error().text;
    which.write(which.beside("child") + "/" + file, text);
    return commit(which.beside("child")).commit;
  }
  std::string file(const std::string& name) {
    return which.read(which.top() + "/" + name).value_or("(none)");
  }

  Which which;
};

using Machines = testing::Types<WithSim, WithGit>;
struct MachineNames {
  template <class Which>
  static std::string GetName(int /*index*/) {
    return std::is_same_v<Which, WithSim> ? "Sim" : "Git";
  }
};
TYPED_TEST_SUITE(VersionControlContract, Machines, MachineNames);

TYPED_TEST(VersionControlContract, tells_where_a_work_tree_stands) {
  const WorktreeState clean = this->state(this->which.top());
  EXPECT_TRUE(clean.versioned);
  EXPECT_EQ(clean.top, this->which.top());
  EXPECT_EQ(clean.branch, "main");
  EXPECT_EQ(clean.commit.size(), 40U);
  EXPECT_EQ(clean.busy + clean.merging, "");
  EXPECT_FALSE(clean.dirty);
  this->which.write(this->which.top() + "/build/x", "ignored");
  EXPECT_FALSE(this->state(this->which.top()).dirty);
  this->which.write(this->which.top() + "/new", "x");
  EXPECT_TRUE(this->state(this->which.top()).dirty);
  this->which.write(this->which.beside("elsewhere/file"), "x");
  EXPECT_FALSE(this->state(this->which.beside("elsewhere")).versioned);
}

TYPED_TEST(VersionControlContract, makes_a_work_tree_that_shares_its_repository) {
  const std::string head = this->state(this->which.top()).commit;
  const auto made = this->make(this->order());
  ASSERT_TRUE(made) << made.error().text;
  EXPECT_EQ(made->top, this->which.beside("child"));
  EXPECT_EQ(made->branch, "child");
  EXPECT_EQ(made->commit, head);
  EXPECT_FALSE(made->dirty);
  EXPECT_EQ(this->which.read(made->top + "/changed"), "changed\n");
  const auto all = this->template must<std::vector<WorktreeEntry>>(
      [&](auto& with, auto done) { return with.worktrees(made->top, done); });
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].path, this->which.top());
  EXPECT_EQ(all[1].path, made->top);
  EXPECT_EQ(all[1].branch, "child");
  EXPECT_EQ(all[1].commit, head);
}

TYPED_TEST(VersionControlContract, takes_over_a_work_tree_of_the_same_path_and_branch) {
  ASSERT_TRUE(this->make(this->order()));
  this->which.write(this->which.beside("child") + "/changed", "work\n");
  EXPECT_TRUE(this->make(this->order()));
  EXPECT_EQ(this->which.read(this->which.beside("child") + "/changed"), "work\n");
  WorktreeOrder other = this->order("other");
  other.branch = "child";
  const auto refused = this->make(other);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().text.contains("a branch named child exists already"));
  EXPECT_EQ(this->which.read(other.path + "/changed"), std::nullopt);
}

TYPED_TEST(VersionControlContract, makes_no_work_tree_where_something_is) {
  this->which.write(this->which.beside("child") + "/file", "x");
  EXPECT_FALSE(this->make(this->order()));
  this->which.remove(this->which.beside("child") + "/file");
  EXPECT_TRUE(this->make(this->order())) << "an empty folder is nothing";
  this->which.forget_commits();
  const auto unborn = this->make(this->order("other"));
  ASSERT_FALSE(unborn);
  EXPECT_TRUE(unborn.error().text.contains("there is no commit yet to start from"));
}

TYPED_TEST(VersionControlContract, commits_everything_that_is_not_ignored) {
  const std::string before = this->state(this->which.top()).commit;
  EXPECT_EQ(this->commit(this->which.top()).commit, "") << "there is nothing";
  this->which.write(this->which.top() + "/changed", "new\n");
  this->which.write(this->which.top() + "/folder/new", "new\n");
  this->which.write(this->which.top() + "/build/x", "ignored\n");
  this->which.write(this->which.top() + "/ours/x", "excluded\n");
  this->which.remove(this->which.top() + "/deleted");
  const Committed done = this->commit(this->which.top());
  EXPECT_EQ(done.refused, "");
  EXPECT_EQ(this->state(this->which.top()).commit, done.commit);
  EXPECT_TRUE(this->contains(before));
  EXPECT_TRUE(this->state(this->which.top()).dirty) << "what is excluded";
  this->which.remove(this->which.top() + "/ours/x");
  EXPECT_FALSE(this->state(this->which.top()).dirty);
}

TYPED_TEST(VersionControlContract, refuses_to_commit_what_is_not_its_to_commit) {
  const std::string child = this->child_writes("new", "new\n");
  this->which.write(this->which.top() + "/changed", "new\n");
  this->which.hold_index();
  EXPECT_TRUE(this->commit(this->which.top()).refused.contains("holds the index"));
  this->which.release_index();
  this->which.leave_branch();
  EXPECT_EQ(this->commit(this->which.top()).refused, "it is on no branch");
  this->which.write(this->which.top() + "/changed", "changed\n");
  this->which.leave_merge(child);
  EXPECT_EQ(this->commit(this->which.top()).refused, "a merge is in progress");
}

TYPED_TEST(VersionControlContract, merges_what_a_child_committed) {
  const std::string child = this->child_writes("new", "from the child\n");
  EXPECT_FALSE(this->contains(child));
  const Merged done = this->merge(child);
  EXPECT_EQ(done.how, Merged::How::merged) << done.why;
  EXPECT_EQ(done.commit, this->state(this->which.top()).commit);
  EXPECT_NE(done.commit, child) << "a commit of its own";
  EXPECT_EQ(this->file("new"), "from the child\n");
  EXPECT_TRUE(this->contains(child));
  EXPECT_FALSE(this->state(this->which.top()).dirty);
  const Merged again = this->merge(child);
  EXPECT_EQ(again.how, Merged::How::already);
  EXPECT_EQ(again.commit, done.commit);
}

TYPED_TEST(VersionControlContract, takes_a_conflict_back) {
  const std::string child = this->child_writes("changed", "theirs\n");
  this->which.write(this->which.top() + "/changed", "ours\n");
  const std::string ours = this->commit(this->which.top()).commit;
  const Merged done = this->merge(child);
  EXPECT_EQ(done.how, Merged::How::conflict);
  EXPECT_EQ(done.paths, std::vector<std::string>{"changed"});
  EXPECT_EQ(done.commit, ours);
  EXPECT_EQ(this->file("changed"), "ours\n");
  const WorktreeState after = this->state(this->which.top());
  EXPECT_EQ(after.commit, ours);
  EXPECT_EQ(after.busy, "");
  EXPECT_FALSE(after.dirty);
}

TYPED_TEST(VersionControlContract, refuses_to_merge_where_work_would_be_in_the_way) {
  const std::string child = this->child_writes("new", "theirs\n");
  const auto why_not = [&] {
    const Merged done = this->merge(child);
    EXPECT_EQ(done.how, Merged::How::refused);
    return done.why;
  };
  this->which.write(this->which.top() + "/kept", "not committed\n");
  EXPECT_EQ(why_not(), "it has changes that are not committed: kept");
  this->which.write(this->which.top() + "/kept", "kept\n");
  this->which.write(this->which.top() + "/new", "mine\n");
  EXPECT_EQ(why_not(), "files that are not tracked are in the way: new");
  EXPECT_EQ(this->file("new"), "mine\n");
  this->which.remove(this->which.top() + "/new");
  this->which.hold_index();
  EXPECT_TRUE(why_not().contains("holds the index"));
  this->which.release_index();
  this->which.write(this->which.top() + "/other", "untracked, and in nobody's way\n");
  EXPECT_EQ(this->merge(child).how, Merged::How::merged);
}

TYPED_TEST(VersionControlContract, refuses_to_merge_where_there_is_nothing) {
  EXPECT_EQ(this->merge("nowhere").why, "there is no commit nowhere");
  const std::string head = this->state(this->which.top()).commit;
  this->which.forget_commits();
  EXPECT_EQ(this->merge(head).why, "there is no commit yet to merge into");
}

TYPED_TEST(VersionControlContract, takes_back_only_a_merge_of_that_very_commit) {
  const std::string child = this->child_writes("new", "theirs\n");
  EXPECT_FALSE(this->abort_merge(child)) << "there is none";
  this->which.leave_merge(child);
  const WorktreeState middle = this->state(this->which.top());
  EXPECT_EQ(middle.merging, child);
  EXPECT_EQ(middle.busy, "a merge");
  EXPECT_EQ(this->merge(child).why, "a merge is in progress there");
  EXPECT_FALSE(this->abort_merge(std::string(40, '1')));
  EXPECT_TRUE(this->abort_merge(child));
  EXPECT_EQ(this->file("new"), "(none)");
  EXPECT_EQ(this->state(this->which.top()).busy, "");
  EXPECT_EQ(this->merge(child).how, Merged::How::merged);
}

TYPED_TEST(VersionControlContract, finds_again_what_was_saved_anywhere_in_the_repository) {
  ASSERT_TRUE(this->make(this->order()));
  this->which.write(this->which.beside("child") + "/changed", "new\n");
  const SnapshotOrder order{.worktree = this->which.beside("child"),
                            .ref = "refs/tend/child/1",
                            .message = "One\n\nMore"};
  const auto saved = this->template must<Snapshot>(
      [&](auto& with, auto done) { return with.snapshot(order, done); });
  const auto all = this->template must<std::vector<SavedWork>>(
      [&](auto& with, auto done) { return with.saved(this->which.top(), done); });
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].ref, "refs/tend/child/1");
  EXPECT_EQ(all[0].commit, saved.commit);
  EXPECT_EQ(all[0].message, "One");
  EXPECT_EQ(all[0].why, "More");
  EXPECT_EQ(all[0].files, 1U);
}

}  // namespace
}  // namespace tend
