// Trees of agents are stopped from their leaves up, and only as far as was ordered.
#include <algorithm>
#include <csignal>
#include <thread>

#include "tree_testing.h"

namespace tend::e2e {
namespace {

using std::chrono::milliseconds;

const std::vector<std::string> kAll{"root", "middle", "leaf", "other"};

class TreeStopTest : public TreeE2e {
 protected:
  void plan_tree(bool leaf_lingers = false) {
    plan({{.name = "root", .children = {"middle", "other"}},
          {.name = "middle", .children = {"leaf"}},
          {.name = "leaf", .lingers = leaf_lingers},
          {.name = "other"}});
  }
  void grow(bool leaf_lingers = false) {
    plan_tree(leaf_lingers);
    keep_root("root");
    await_work(kAll);
  }
  /// Their ends in the order in which they were written down.
  [[nodiscard]] Names ends() const {
    Names names;
    for (const Json& event : events()) {
      if (text_in(event, "text").starts_with("over: ")) names.push_back(text_in(event, "agent"));
    }
    return names;
  }
  /// Nobody ended before all below it had.
  void expect_leaves_first() const {
    const Names order = ends();
    ASSERT_EQ(order.size(), kAll.size());
    EXPECT_EQ(order.back(), "root");
    EXPECT_LT(std::ranges::find(order, "leaf"), std::ranges::find(order, "middle"));
  }
  void expect_all_stopped() {
    for (const std::string& name : kAll) {
      EXPECT_EQ(text_in(says(name), "outcome"), "stopped") << name << ": " << says(name);
      EXPECT_EQ(ledger()[name].starts.size(), 1U) << name;
      const std::string saved = "refs/tend/" + name + "/1:" + name + ".txt";
      EXPECT_TRUE(git(repository(), {"show", saved}).starts_with("life 1\n")) << name;
    }
    expect_leaves_first();
    expect_nothing_left();
    expect_nothing_to_recover();
  }
  void expect_takes_no_child(const std::string& name) {
    const auto ran = tend({"dispatch", "--parent", name, "--", "sleep", "600"});
    EXPECT_EQ(ran.exit, 1) << ran.out;
    EXPECT_EQ(ran.err, "tend dispatch: " + name +
                           " is being stopped (tend stop): it takes no new children\n");
  }
};

TEST_F(TreeStopTest, a_whole_tree_ends_from_its_leaves_up_with_its_work_saved) {
  ASSERT_NO_FATAL_FAILURE(grow());
  const auto stopped = tend({"stop", "--tree", "root"});
  EXPECT_EQ(stopped.exit, 0) << stopped.err;
  EXPECT_EQ(stopped.out, "root: stopped\n");
  expect_all_stopped();
}

TEST_F(TreeStopTest, a_tree_that_is_being_stopped_takes_no_new_children) {
  ASSERT_NO_FATAL_FAILURE(grow(true));
  Background stop = start_tend({"stop", "--tree", "root"});
  ASSERT_TRUE(eventually([&] { return is_over("other"); }));
  EXPECT_FALSE(is_over("root"));
  expect_takes_no_child("root");
  expect_takes_no_child("middle");
  EXPECT_FALSE(is_over("leaf")) << "it was to take longer";
  const auto ran = stop.wait();
  EXPECT_EQ(ran.exit, 0) << ran.err;
  expect_all_stopped();
}

TEST_F(TreeStopTest, a_tree_whose_keepers_are_dead_is_stopped_all_the_same) {
  ASSERT_NO_FATAL_FAILURE(grow());
  std::vector<pid_t> keepers;
  for (const std::string& name : kAll) keepers.push_back(keeper_of(name));
  ASSERT_NO_FATAL_FAILURE(kill_all(keepers));
  const auto stopped = tend({"stop", "--tree", "root"});
  EXPECT_EQ(stopped.exit, 0) << stopped.err;
  expect_all_stopped();
}

TEST_F(TreeStopTest, a_tree_that_is_drained_does_its_work_to_the_end_and_takes_no_more) {
  ASSERT_NO_FATAL_FAILURE(grow());
  Background stop = start_tend({"stop", "--tree", "--drain", "root"});
  ASSERT_TRUE(eventually([&] {
    return std::ranges::all_of(kAll, [&](const auto& name) {
      return read_file(folder_of(name) / "intent.json").contains("drain");
    });
  }));
  for (const std::string& name : kAll) {
    expect_takes_no_child(name);
    EXPECT_TRUE(is_at_work(name)) << name;
  }
  EXPECT_FALSE(stop.is_over());
  let_go();
  const auto ran = stop.wait();
  EXPECT_EQ(ran.exit, 0) << ran.err;
  expect_good_end(kAll, "root");
  expect_leaves_first();
}

TEST_F(TreeStopTest, a_viewer_that_is_interrupted_stops_the_whole_tree) {
  plan_tree();
  Background viewer = start(
      {.arguments = Arguments{"env", "-C", repository().string(), TEND_BINARY, "run", "--name",
                              "root", "--policy", "agent", "--worktree", "new", "--"} +
                    agent("root")});
  ASSERT_TRUE(await_work(kAll));
  viewer.signal(SIGINT);
  const auto ran = viewer.wait();
  EXPECT_EQ(ran.exit, 128 + SIGINT) << ran.err;
  expect_all_stopped();
}

TEST_F(TreeStopTest, a_lead_that_is_stopped_alone_leaves_its_children_at_work) {
  ASSERT_NO_FATAL_FAILURE(grow());
  const pid_t leaf = process_of("leaf");
  const pid_t middle = process_of("middle");
  Background stop = start_tend({"stop", "middle"});
  ASSERT_TRUE(eventually([&] { return !is_running(middle); }));
  const auto ran = stop.wait();
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_TRUE(ran.out.contains("`tend stop --tree middle` ends")) << ran.out;
  std::this_thread::sleep_for(milliseconds{1500});  // more than a beat
  EXPECT_TRUE(is_at_work("leaf")) << says("leaf");
  EXPECT_EQ(process_of("leaf"), leaf);
  EXPECT_FALSE(is_running(middle));
  expect_nothing_to_recover();
  let_go();
  ASSERT_TRUE(await_end(kAll));
  EXPECT_EQ(text_in(says("middle"), "outcome"), "stopped") << says("middle");
  EXPECT_EQ(text_in(says("leaf"), "outcome"), "done") << says("leaf");
  EXPECT_EQ(ledger()["leaf"].starts.size(), 1U);
  EXPECT_EQ(ledger()["middle"].starts.size(), 1U);
  expect_nothing_left();
}

}  // namespace
}  // namespace tend::e2e
