// BringHome on the version control of the simulated machine: a child's branch, and the work tree of
// its parent.
#include "act/bring_home.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "os/sim/sim_universe.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr const char* kParent = "/home/user/work";
constexpr const char* kChild = "/home/user/trees/coder";

class BringHomeTest : public testing::Test {
 protected:
  BringHomeTest() {
    write(kParent, "a", "1");
    universe.repositories[kParent].head = {{"a", "1"}};
    std::optional<Result<WorktreeState>> made;
    const Subscribed making = machine.version_control.make_worktree(
        {.repository = kParent, .path = kChild, .branch = "tend/coder", .from = ""},
        [&](auto state) { made = std::move(state); });
    universe.run_for(1s);
    CHECK(made && *made);
  }

  void write(const std::string& tree, const std::string& file, const std::string& text) {
    universe.disk.write(tree + "/" + file, text);
  }
  void commit(const std::string& tree, const std::string& file, const std::string& text) {
    write(tree, file, text);
    universe.repositories[tree].head[file] = text;
  }
  /// What is checked out there; what a test put into its head is committed by then.
  std::string commit_of(const std::string& tree) {
    std::string commit;
    const Subscribed asked =
        machine.version_control.state(tree, [&](auto state) { commit = state->commit; });
    universe.run_for(1min);
    return commit;
  }

  std::unique_ptr<BringHome> begin() {
    return std::make_unique<BringHome>(
        machine, order,
        [this](const std::string& commit) -> Result<void> {
          announced.push_back(commit);
          if (!cannot_announce.empty()) return fail(cannot_announce);
          return {};
        },
        [this](const Result<BroughtHome>& told) {
          EXPECT_FALSE(answer) << "it is told once";
          answer = told;
        });
  }
  Result<BroughtHome> bring() {
    answer.reset();
    const auto act = begin();
    CHECK(!answer);  // never from the constructor
    universe.run_for(1min);
    CHECK(answer);
    return *answer;
  }
  void expect_home(const std::string& how) {
    const auto brought = bring();
    ASSERT_TRUE(brought) << brought.error().text;
    EXPECT_TRUE(brought->home);
    EXPECT_EQ(brought->how, how);
  }
  void expect_not_home(const std::string& why) {
    const std::string before = parent().commit;
    const auto brought = bring();
    ASSERT_TRUE(brought) << brought.error().text;
    EXPECT_FALSE(brought->home);
    EXPECT_EQ(brought->how, why);
    EXPECT_EQ(parent().commit, before);
  }

  SimRepository& parent() { return universe.repositories[kParent]; }
  std::string file(const std::string& name) {
    return universe.disk.read(std::string(kParent) + "/" + name).value_or("");
  }
  const SimRepository::Commit& head() { return parent().commits.at(parent().commit); }

  SimUniverse universe;
  Machine& machine = universe.machine();
  BringHomeOrder order{.child = "coder", .from = kChild, .into = kParent, .announced = {}};
  std::vector<std::string> announced;
  std::string cannot_announce;
  std::optional<Result<BroughtHome>> answer;
};

TEST_F(BringHomeTest, merges_the_branch_with_a_commit_that_says_whose_work_it_is) {
  commit(kChild, "b", "of coder");
  const std::string work = commit_of(kChild);
  const auto brought = bring();
  ASSERT_TRUE(brought) << brought.error().text;
  EXPECT_TRUE(brought->home);
  EXPECT_EQ(brought->how, "merged as " + parent().commit.substr(0, 7));
  EXPECT_EQ(file("b"), "of coder");
  EXPECT_EQ(head().message, "Merge the work of coder (branch tend/coder)");
  EXPECT_EQ(head().parents.at(1), work);
  EXPECT_EQ(announced, std::vector{work});
}

TEST_F(BringHomeTest, names_the_commit_of_one_that_is_on_no_branch) {
  universe.repositories[kChild].branch = "";
  commit(kChild, "b", "of coder");
  const std::string work = commit_of(kChild);
  ASSERT_TRUE(bring());
  EXPECT_EQ(head().message, "Merge the work of coder (commit " + work.substr(0, 7) + ")");
}

TEST_F(BringHomeTest, has_nothing_to_do_where_the_work_is_already) {
  expect_home("its work is merged");
  commit(kChild, "b", "of coder");
  ASSERT_TRUE(bring());
  const std::string merged = parent().commit;
  announced.clear();
  expect_home("its work is merged");
  EXPECT_EQ(parent().commit, merged);
  EXPECT_TRUE(announced.empty()) << "what is not begun is not announced";
}

TEST_F(BringHomeTest, leaves_everything_as_it_was_in_a_conflict) {
  commit(kChild, "a", "of coder");
  commit(kParent, "a", "of lead");
  commit_of(kParent);
  expect_not_home("it is in conflict with /home/user/work, and stays on branch tend/coder: a");
  EXPECT_EQ(file("a"), "of lead");
  EXPECT_EQ(parent().merging, "");
}

TEST_F(BringHomeTest, names_paths_in_conflict_on_one_line) {
  commit(kChild, "odd\nname", "of coder");
  commit(kParent, "odd\nname", "of lead");
  const auto brought = bring();
  ASSERT_TRUE(brought);
  EXPECT_TRUE(brought->how.ends_with(": odd\\x0aname")) << brought->how;
}

TEST_F(BringHomeTest, begins_nothing_where_something_is_not_committed) {
  commit(kChild, "b", "of coder");
  write(kParent, "a", "half done");
  commit_of(kChild);
  expect_not_home("it stays on branch tend/coder: it has changes that are not committed: a");
  EXPECT_EQ(file("a"), "half done");
  EXPECT_EQ(file("b"), "");
}

TEST_F(BringHomeTest, begins_nothing_where_something_is_in_progress) {
  commit(kChild, "b", "of coder");
  parent().busy = "a rebase";
  expect_not_home("it stays on branch tend/coder: a rebase is in progress there");
  EXPECT_EQ(parent().busy, "a rebase");
}

TEST_F(BringHomeTest, begins_nothing_where_the_parent_has_no_version_control) {
  commit(kChild, "b", "of coder");
  order.into = "/home/user/elsewhere";
  expect_not_home("it stays on branch tend/coder: there is no version control there");
}

TEST_F(BringHomeTest, has_nothing_to_merge_of_one_that_never_committed) {
  universe.repositories["/home/user/unborn"] = {};
  universe.disk.make_folder("/home/user/unborn");
  order.from = "/home/user/unborn";
  expect_home("there was nothing to merge");
  EXPECT_TRUE(announced.empty());
}

TEST_F(BringHomeTest, leaves_work_where_it_is_without_version_control) {
  order.from = "/home/user/plain";
  universe.disk.make_folder(order.from);
  expect_home("there is no version control in /home/user/plain: its work is there");
}

TEST_F(BringHomeTest, does_not_take_a_work_tree_that_is_gone_for_one_without_version_control) {
  order.from = "/home/user/trees/gone";
  expect_not_home(
      "its work tree /home/user/trees/gone is gone: merge its branch by hand, if it has one");
}

TEST_F(BringHomeTest, fails_with_the_words_of_version_control) {
  commit(kChild, "b", "of coder");
  universe.version_control_fails = "git was ended by its time limit";
  const auto brought = bring();
  ASSERT_FALSE(brought);
  EXPECT_EQ(brought.error().text, "git was ended by its time limit");
}

TEST_F(BringHomeTest, merges_nothing_that_could_not_be_announced) {
  commit(kChild, "b", "of coder");
  commit_of(kChild);
  const std::string before = parent().commit;
  cannot_announce = "No space left on device";
  const auto brought = bring();
  ASSERT_FALSE(brought);
  EXPECT_EQ(brought.error().text, "No space left on device");
  EXPECT_EQ(parent().commit, before);
  EXPECT_EQ(parent().merging, "");
}

TEST_F(BringHomeTest, takes_back_what_one_before_left_in_its_middle) {
  commit(kChild, "b", "of coder");
  const std::string work = commit_of(kChild);
  parent().merging = work;
  order.announced = work;
  const auto brought = bring();
  ASSERT_TRUE(brought);
  EXPECT_TRUE(brought->home) << brought->how;
  EXPECT_EQ(head().parents.at(1), work);
}

TEST_F(BringHomeTest, does_not_take_back_a_merge_that_is_somebody_elses) {
  commit(kChild, "b", "of coder");
  const std::string work = commit_of(kChild);
  parent().merging = "of another";
  order.announced = work;
  expect_not_home("it stays on branch tend/coder: a merge is in progress there");
  EXPECT_EQ(parent().merging, "of another");
  order.announced = "";
  parent().merging = work;
  expect_not_home("it stays on branch tend/coder: a merge is in progress there");
  EXPECT_EQ(parent().merging, work) << "nobody of ours announced it";
}

TEST_F(BringHomeTest, does_nothing_more_once_it_is_destroyed) {
  commit(kChild, "b", "of coder");
  commit_of(kChild);
  universe.version_control_takes = 10s;
  auto act = begin();
  universe.run_for(15s);
  act.reset();
  universe.run_for(1min);
  EXPECT_FALSE(answer);
  EXPECT_TRUE(announced.empty());
  EXPECT_EQ(file("b"), "");
}

TEST_F(BringHomeTest, can_be_destroyed_in_the_middle_of_a_merge_and_followed_by_another) {
  commit(kChild, "b", "of coder");
  const std::string work = commit_of(kChild);
  const std::string before = parent().commit;
  universe.version_control_takes = 10s;
  auto act = begin();
  ASSERT_TRUE(universe.run_until([&] { return parent().merging == work; }, 1min));
  act.reset();
  universe.run_for(1min);
  EXPECT_FALSE(answer);
  EXPECT_EQ(parent().merging, work);
  order.announced = announced.back();
  const auto brought = bring();
  ASSERT_TRUE(brought);
  EXPECT_TRUE(brought->home) << brought->how;
  EXPECT_EQ(head().parents, (std::vector{before, work}));
}

TEST_F(BringHomeTest, may_be_destroyed_by_the_one_who_is_told) {
  commit(kChild, "b", "of coder");
  bool was_told = false;
  std::unique_ptr<BringHome> act;
  act = std::make_unique<BringHome>(
      machine, order, [](const std::string&) { return Result<void>{}; },
      [&](const Result<BroughtHome>& brought) {
        act.reset();
        was_told = brought && brought->home;
      });
  universe.run_for(1min);
  EXPECT_TRUE(was_told);
}

}  // namespace
}  // namespace tend
