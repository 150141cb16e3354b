// Trees of agents: they grow, their work comes home, they are refused where they must not grow.
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>

#include "tree_testing.h"

namespace tend::e2e {
namespace {

class TreeTest : public TreeE2e {};

// Growing, and coming home.

TEST_F(TreeTest, five_children_work_side_by_side_and_all_their_work_comes_home) {
  const Names children{"a", "b", "c", "d", "e"};
  std::vector<Part> parts{{.name = "root", .children = children}};
  for (const std::string& child : children) parts.push_back({.name = child});
  plan(parts);
  keep_root("root");
  const Names all{"root", "a", "b", "c", "d", "e"};
  ASSERT_TRUE(await_work(all));
  const auto tree = tend({"tree"});
  for (const std::string& name : all) EXPECT_TRUE(tree.out.contains(name)) << tree.out;
  expect_nothing_to_recover();
  let_go();
  expect_good_end(all, "root");
  for (const std::string& child : children) EXPECT_EQ(registered("root", child), "done") << child;
  // One that the lead merged before its keeper saw it is no news.
  EXPECT_TRUE(inbox_of("root").contains(" is through")) << inbox_of("root");
}

TEST_F(TreeTest, a_chain_of_four_hands_its_work_up_from_one_to_the_next) {
  plan({{.name = "root", .children = {"one"}},
        {.name = "one", .children = {"two"}},
        {.name = "two", .children = {"three"}},
        {.name = "three"}});
  keep_root("root");
  const Names all{"root", "one", "two", "three"};
  ASSERT_TRUE(await_work(all));
  EXPECT_EQ(folder_of("three").parent_path().parent_path(), folder_of("two"));
  let_go();
  expect_good_end(all, "root");
}

// What does not come home.

TEST_F(TreeTest, of_two_that_changed_the_same_file_the_second_stays_on_its_branch) {
  plan({{.name = "root", .children = {"a", "b"}, .works = false},
        {.name = "a", .writes = "shared"},
        {.name = "b", .writes = "shared"}});
  keep_root("root");
  const Names all{"root", "a", "b"};
  ASSERT_TRUE(await_work(all));
  let_go();
  ASSERT_TRUE(await_end(all));
  expect_nothing_left();
  const Path root = worktree_of("root");
  expect_merged({"a"}, root);
  EXPECT_EQ(git(root, {"show", "HEAD:shared"}), "by a\n");
  expect_clean_tree(root);
  EXPECT_EQ(registered("root", "a"), "done");
  EXPECT_EQ(registered("root", "b"), "unmerged");
  const std::string inbox = inbox_of("root");
  EXPECT_TRUE(inbox.contains("the work of b is not merged: it is in conflict with")) << inbox;
  EXPECT_TRUE(inbox.contains("tend merge b")) << inbox;
  EXPECT_EQ(git(worktree_of("b"), {"show", "HEAD:shared"}), "by b\n");
  const auto again = tend({"merge", "b"});
  EXPECT_EQ(again.exit, 1) << again.out;
  EXPECT_TRUE(again.err.contains("shared")) << again.err;
  expect_clean_tree(root);
  const auto recovered = tend({"recover"});
  EXPECT_TRUE(recovered.out.starts_with("unmerged  b: ")) << recovered.out;
  EXPECT_TRUE(recovered.out.ends_with("\nnothing to recover\n")) << recovered.out;
}

TEST_F(TreeTest, nothing_is_merged_into_a_dirty_lead_until_it_has_committed) {
  plan({{.name = "root", .children = {"a"}, .works = false, .waits = false}, {.name = "a"}});
  keep_root("root", {});
  const Names all{"root", "a"};
  ASSERT_TRUE(await_work(all));
  ASSERT_EQ(worktree_of("root"), repository());
  std::ofstream(repository() / "README") << "changed and not committed\n";
  let_go();
  ASSERT_TRUE(await_end(all));
  EXPECT_EQ(registered("root", "a"), "unmerged");
  EXPECT_TRUE(inbox_of("root").contains("the work of a is not merged: ")) << inbox_of("root");
  EXPECT_EQ(read_file(repository() / "README"), "changed and not committed\n");
  const auto refused = tend({"merge", "a"});
  EXPECT_EQ(refused.exit, 1) << refused.out;
  commit_file(repository(), "README", "changed and committed\n");
  const auto merged = tend({"merge", "a"});
  EXPECT_EQ(merged.exit, 0) << merged.err;
  EXPECT_EQ(registered("root", "a"), "done");
  expect_merged({"a"}, repository());
  expect_clean_tree(repository());
  expect_clean_ledger(all);
  expect_nothing_to_recover();
}

TEST_F(TreeTest, a_child_is_merged_into_a_lead_that_is_still_at_work) {
  plan({{.name = "root", .children = {"a"}, .works = false}, {.name = "a"}});
  keep_root("root");
  ASSERT_TRUE(await_work({"root", "a"}));
  const auto early = tend({"merge", "a"});
  EXPECT_EQ(early.exit, 1);
  EXPECT_TRUE(early.err.contains("a is not over; `tend wait a` waits for it")) << early.err;
  let_go("a");
  ASSERT_TRUE(await_end({"a"}));
  ASSERT_TRUE(eventually([&] { return registered("root", "a") == "unmerged"; }));
  EXPECT_TRUE(inbox_of("root").contains("`tend merge a` brings it here")) << inbox_of("root");
  const auto merged = tend({"merge", "a"});
  EXPECT_EQ(merged.exit, 0) << merged.err;
  EXPECT_TRUE(is_at_work("root"));
  expect_merged({"a"}, worktree_of("root"));
  let_go();
  ASSERT_TRUE(await_end({"root"}));
  EXPECT_EQ(registered("root", "a"), "done");
  expect_clean_ledger({"root", "a"});
}

TEST_F(TreeTest, who_withdraws_or_escalates_is_told_of_and_never_merged) {
  plan({{.name = "root", .children = {"quiet", "withdrawn", "escalated"}},
        {.name = "quiet", .outcome = ""},
        {.name = "withdrawn", .outcome = "withdrawn"},
        {.name = "escalated", .outcome = "escalated"}});
  keep_root("root");
  const Names all{"root", "quiet", "withdrawn", "escalated"};
  ASSERT_TRUE(await_work(all));
  let_go();
  ASSERT_TRUE(await_end(all));
  expect_nothing_left();
  expect_clean_ledger(all);
  const Path root = worktree_of("root");
  expect_merged({"root", "quiet"}, root);
  EXPECT_EQ(registered("root", "quiet"), "done");
  for (const std::string name : {"withdrawn", "escalated"}) {
    EXPECT_EQ(text_in(says(name), "outcome"), name);
    EXPECT_EQ(registered("root", name), "gone");
    const std::string told = name + " (part) ended, " + name + ": " + name + " is through";
    EXPECT_TRUE(inbox_of("root").contains(told)) << inbox_of("root");
    EXPECT_FALSE(git(root, {"ls-tree", "--name-only", "HEAD"}).contains(name));
    EXPECT_EQ(tend({"merge", name}).exit, 1);
  }
  expect_nothing_to_recover();
}

// Where a tree must not grow.

TEST_F(TreeTest, does_not_grow_from_the_environment_of_another_agent) {
  plan({{.name = "root"}});
  const Path folder = keep_root("root");
  ASSERT_TRUE(await_work({"root"}));
  const std::map<std::string, std::string> stale{{"TEND_INFRA", folder.string()},
                                                 {"TEND_LIFE", "1"}};
  const auto refused = run({.arguments = {TEND_BINARY, "dispatch", "--name", "child", "--", "true"},
                            .environment = stale});
  EXPECT_EQ(refused.exit, 2);
  EXPECT_EQ(refused.out, "");
  EXPECT_TRUE(refused.err.starts_with("tend dispatch: this is no process of root; `tend run"))
      << refused.err;
  EXPECT_EQ(lines_of(refused.err).size(), 1U) << refused.err;
  EXPECT_EQ(folder_of("child"), Path());

  const auto apart =
      run({.arguments = {TEND_BINARY, "run", "--name", "apart", "--", "echo", "hello"},
           .environment = stale});
  EXPECT_EQ(apart.exit, 0) << apart.err;
  EXPECT_EQ(apart.out, "hello\n");
  EXPECT_EQ(apart.err, "tend run: this is no process of root: it becomes a tree of its own\n");
  EXPECT_EQ(folder_of("apart").parent_path(), home() / "sessions");
  EXPECT_EQ(text_in(says("apart"), "parent_heartbeat"), "");

  const auto nowhere = tend({"dispatch", "--", "true"});
  EXPECT_EQ(nowhere.exit, 2);
  EXPECT_TRUE(nowhere.err.contains("this is not inside an agent that Tend keeps")) << nowhere.err;
}

TEST_F(TreeTest, does_not_grow_from_an_earlier_life_of_an_agent) {
  plan({{.name = "root"}});
  const Path folder = keep_root("root");
  ASSERT_TRUE(await_work({"root"}));
  ASSERT_TRUE(kill(process_of("root")));
  ASSERT_TRUE(await(folder, [](const Json& h) { return number_in(h, "life") == 2; }));
  const auto refused = run({.arguments = {TEND_BINARY, "dispatch", "--", "true"},
                            .environment = {{"TEND_INFRA", folder.string()}, {"TEND_LIFE", "1"}}});
  EXPECT_EQ(refused.exit, 2);
  EXPECT_TRUE(refused.err.contains("root is in its life 2 by now, and this is of life 1"))
      << refused.err;
}

TEST_F(TreeTest, is_sixteen_agents_deep_at_most) {
  ASSERT_NE(keep({"--name", "d1"}, {"sleep", "600"}), Path());
  for (int depth = 2; depth <= 16; ++depth) {
    const auto ran = tend({"dispatch", "--parent", "d" + std::to_string(depth - 1), "--name",
                           "d" + std::to_string(depth), "--", "sleep", "600"});
    ASSERT_EQ(ran.exit, 0) << depth << ": " << ran.err;
  }
  const auto refused = tend({"dispatch", "--parent", "d16", "--name", "d17", "--", "sleep", "600"});
  EXPECT_EQ(refused.exit, 1);
  EXPECT_EQ(refused.err,
            "tend dispatch: the tree is 16 agents deep already, and no deeper one is started: let "
            "d16 do the work itself\n");
  EXPECT_EQ(folder_of("d17"), Path());
  EXPECT_EQ(tend({"stop", "--tree", "d1"}).exit, 0);
  expect_nothing_left();
}

TEST_F(TreeTest, does_not_grow_below_one_that_is_unknown_or_over) {
  const auto unknown = tend({"dispatch", "--parent", "nobody", "--", "true"});
  EXPECT_EQ(unknown.exit, 2);
  EXPECT_TRUE(unknown.err.starts_with("tend dispatch: --parent: ")) << unknown.err;
  EXPECT_EQ(lines_of(unknown.err).size(), 1U) << unknown.err;
  ASSERT_EQ(tend({"run", "--name", "over", "--", "true"}).exit, 0);
  const auto over = tend({"dispatch", "--parent", "over", "--", "true"});
  EXPECT_EQ(over.exit, 2);
  EXPECT_EQ(over.err, "tend dispatch: --parent: over is over\n");
}

// Many at once.

TEST_F(TreeTest, leads_that_dispatch_at_the_same_time_all_get_their_work_trees) {
  const Names leads{"k", "l", "m", "n"};
  for (const std::string& lead : leads) {
    ASSERT_NE(keep({"--name", lead}, {"sleep", "600"}), Path());
  }
  std::vector<Background> running;
  for (const char* number : {"1", "2", "3"}) {
    for (const std::string& lead : leads) {
      running.push_back(start({.arguments = {"env", "-C", repository().string(), TEND_BINARY,
                                             "dispatch", "--parent", lead, "--name", lead + number,
                                             "--worktree", "new", "--", "sleep", "600"}}));
    }
  }
  for (Background& one : running) EXPECT_EQ(one.wait().exit, 0) << one.err();
  EXPECT_EQ(lines_of(git(repository(), {"worktree", "list"})).size(), running.size() + 1);
}

TEST_F(TreeTest, two_hundred_children_register_in_linear_time_and_end_together) {
  using Clock = std::chrono::steady_clock;
  constexpr int kChildren = 200;
  constexpr int kBatch = 50;
  constexpr std::size_t kAtOnce = 4;
  ASSERT_NE(keep({"--name", "wide"}, {"sleep", "600"}), Path());
  std::vector<Clock::duration> took;
  for (int first = 0; first < kChildren; first += kBatch) {
    const auto began = Clock::now();
    std::deque<Background> running;
    for (int i = first; i < first + kBatch; ++i) {
      if (running.size() == kAtOnce) {
        const auto ran = running.front().wait();
        ASSERT_EQ(ran.exit, 0) << ran.err;
        running.pop_front();
      }
      running.push_back(start_tend({"dispatch", "--parent", "wide", "--role", "part", "--name",
                                    "c" + std::to_string(i), "--", "sleep", "600"}));
    }
    for (Background& one : running) ASSERT_EQ(one.wait().exit, 0) << one.err();
    took.push_back(Clock::now() - began);
  }
  EXPECT_LT(took.back(), 5 * took.front());
  EXPECT_EQ(number_in(says("wide"), "children"), kChildren);
  const auto tree = tend({"tree"});
  EXPECT_EQ(tree.exit, 0) << tree.err;
  EXPECT_TRUE(tree.out.contains("c199")) << tree.out;
  EXPECT_TRUE(tend({"status"}).out.contains("c199"));
  const auto stopped = tend({"stop", "--tree", "wide"});
  EXPECT_EQ(stopped.exit, 0) << stopped.err;
  expect_nothing_left();
  expect_nothing_to_recover();
}

}  // namespace
}  // namespace tend::e2e
