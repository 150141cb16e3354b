// `tend dispatch` and a nested `tend run`: who becomes whose child, and what is refused.
#include "app/dispatch_command.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "app/growing_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr const char* kInstead =
    "; `tend run -- CMD` starts a tree of its own, `--parent AGENT` puts it below an agent";

class DispatchCommand : public Growing {
 protected:
  static Words with(Words options) {
    options.insert(options.begin(), "dispatch");
    options.insert(options.end(), {"--", "claude", "-p", "do it"});
    return options;
  }
  /// Gives the child the time of its first moment.
  Answer dispatch_in(const std::string& agent, Words options = {}) {
    Answer answer = tend_in(agent, with(std::move(options)));
    universe.run_for(100ms);
    return answer;
  }
  void expect_nothing_registered() {
    EXPECT_EQ(children_of("lead"), std::vector<std::string>{});
    universe.run_for(1min);
    EXPECT_EQ(universe.pids("claude"), family.agents("lead"));
  }
  void work_in(const std::string& folder) {
    universe.disk.make_folder(folder);
    working_folder = folder;
  }
};

class NestedRun : public DispatchCommand {};

// --- Starting ------------------------------------------------------------------------------------

TEST_F(DispatchCommand, starts_a_child_and_prints_name_and_folder) {
  start_lead();
  const Answer answer = tend_in("lead", with({"--name", "coder", "--role", "coding"}));
  ASSERT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_EQ(universe.pids("claude").size(), 2U) << "it runs when the command returns";
  know("coder");
  EXPECT_EQ(answer.out, "coder " + family.folders["coder"] + "\n");
  EXPECT_TRUE(family.folders["coder"].starts_with(family.folders["lead"] + "/coding/"));
  EXPECT_EQ(answer.err, "");
  universe.run_for(1s);
  EXPECT_EQ(children_of("lead"), std::vector<std::string>{"coder active"});
  EXPECT_EQ(family.heartbeat("coder").parent_heartbeat, family.path("lead", ".heartbeat"));
}

TEST_F(DispatchCommand, makes_a_name_and_a_role_where_none_are_given) {
  start_lead();
  const Answer answer = dispatch_in("lead");
  EXPECT_TRUE(answer.out.starts_with("claude-")) << answer.out;
  EXPECT_TRUE(answer.has(family.folders["lead"] + "/worker/")) << answer.out;
}

TEST_F(DispatchCommand, says_it_as_json) {
  start_lead();
  const Answer answer =
      dispatch_in("lead", {"--name", "coder", "--role", "coding", "--task-id", "t1", "--json"});
  know("coder");
  const auto line = answer.json();
  EXPECT_EQ(std::ranges::count(answer.out, '\n'), 1) << answer.out;
  EXPECT_EQ(line["agent"], "coder");
  EXPECT_EQ(line["folder"], family.folders["coder"]);
  EXPECT_EQ(line["role"], "coding");
  EXPECT_EQ(line["parent"], "lead");
  EXPECT_EQ(line["worktree"], "");
  EXPECT_EQ(family.registered("lead", "coder").task_id, "t1");
}

TEST_F(DispatchCommand, gives_the_child_the_environment_of_the_command) {
  start_lead();
  Variables variables = variables_of("lead");
  variables["TOKEN"] = "of the tool";
  tend_below(family.agents("lead").front(), with({"--name", "coder"}), variables);
  universe.run_for(100ms);
  EXPECT_TRUE(is_in(family.last_environment["coder"], "TOKEN=of the tool"));
}

TEST_F(DispatchCommand, puts_a_keeper_on_a_parent_that_has_none) {
  start_lead();
  family.kill_keepers("lead");
  const Answer answer = dispatch_in("lead", {"--name", "coder"});
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_EQ(family.keepers("lead").size(), 1U);
  EXPECT_EQ(family.agents("coder").size(), 1U);
}

TEST_F(DispatchCommand, puts_it_below_the_agent_that_is_named) {
  start_lead();
  const Answer answer = tend(with({"--parent", "lead", "--name", "coder"}));
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  universe.run_for(1s);
  EXPECT_EQ(children_of("lead"), std::vector<std::string>{"coder active"});
}

TEST_F(DispatchCommand, says_why_a_program_did_not_start_and_exits_as_it_would) {
  start_lead();
  const Answer answer = tend_in("lead", {"dispatch", "--name", "coder", "--", "nosuch"});
  EXPECT_EQ(answer.exit, 127);
  EXPECT_TRUE(answer.err.starts_with("tend dispatch: ")) << answer.err;
  EXPECT_EQ(std::ranges::count(answer.err, '\n'), 1) << answer.err;
  EXPECT_EQ(answer.out, "");
}

// --- Whose child ---------------------------------------------------------------------------------

TEST_F(DispatchCommand, is_refused_outside_of_an_agent) {
  expect_refused(
      tend(with({})), kExitUsage,
      std::string("tend dispatch: this is not inside an agent that Tend keeps") + kInstead);
  EXPECT_TRUE(universe.pids("claude").empty());
}

TEST_F(DispatchCommand, needs_a_command) {
  start_lead();
  expect_refused(
      tend_in("lead", {"dispatch"}), kExitUsage,
      "tend dispatch: needs a command, as in: tend dispatch --role coding -- claude -p \"...\"");
}

TEST_F(DispatchCommand, is_refused_in_an_earlier_life) {
  start_lead();
  family.kill_agents("lead");
  ASSERT_TRUE(universe.run_until([&] { return family.agents("lead").size() == 1; }, 1min));
  universe.run_for(5s);
  Variables variables = variables_of("lead");
  variables["TEND_LIFE"] = "1";
  expect_refused(
      tend_below(family.agents("lead").front(), with({}), variables), kExitUsage,
      std::string("tend dispatch: lead is in its life 2 by now, and this is of life 1") + kInstead);
  variables["TEND_LIFE"] = "";
  EXPECT_EQ(tend_below(family.agents("lead").front(), with({}), variables).exit, kExitUsage);
  expect_nothing_registered();
}

TEST_F(DispatchCommand, is_refused_to_a_process_that_only_says_it_is_of_an_agent) {
  start_lead();
  expect_refused(tend_below(1, with({}), variables_of("lead")), kExitUsage,
                 std::string("tend dispatch: this is no process of lead") + kInstead);
  expect_nothing_registered();
}

TEST_F(DispatchCommand, is_refused_for_an_agent_of_another_home) {
  start_lead();
  Variables variables = variables_of("lead");
  variables["TEND_HOME"] = "/home/user/other";
  expect_refused(tend_below(family.agents("lead").front(), with({}), variables), kExitUsage,
                 "tend dispatch: '" + family.folders["lead"] +
                     "' is an agent of another home than /home/user/other" + kInstead);
  expect_nothing_registered();
}

TEST_F(DispatchCommand, is_refused_below_a_parent_that_is_over) {
  family.behaves["lead"] = work_for(10s);
  start_lead();
  universe.run_for(1min);
  ASSERT_TRUE(family.over("lead"));
  expect_refused(tend_below(1, with({}), variables_of("lead")), kExitUsage,
                 std::string("tend dispatch: lead is over") + kInstead);
  expect_refused(tend(with({"--parent", "lead"})), kExitUsage,
                 "tend dispatch: --parent: lead is over");
  const Answer nobody = tend(with({"--parent", "nobody"}));
  EXPECT_EQ(nobody.exit, kExitUsage);
  EXPECT_TRUE(nobody.err.starts_with("tend dispatch: --parent: no agent 'nobody'")) << nobody.err;
}

TEST_F(DispatchCommand, is_refused_below_a_parent_that_is_being_stopped) {
  family.behaves["lead"] = [](SimSelf& self) {
    talk(self);
    self.slow_to_end(10s);
  };
  start_lead();
  family.order("lead", Want::stop, false);
  universe.run_for(1s);
  expect_refused(dispatch_in("lead"), kExitNo,
                 "tend dispatch: lead is being stopped (tend stop): it takes no new children");
  EXPECT_EQ(children_of("lead"), std::vector<std::string>{});
}

// --- What is refused -----------------------------------------------------------------------------

TEST_F(DispatchCommand, is_refused_under_a_name_that_is_taken) {
  start_lead();
  ASSERT_EQ(dispatch_in("lead", {"--name", "coder"}).exit, kExitYes);
  const Answer answer = dispatch_in("lead", {"--name", "coder"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_TRUE(answer.err.starts_with("tend dispatch: coder is not over; ")) << answer.err;
  EXPECT_EQ(dispatch_in("lead", {"--name", "lead"}).exit, kExitNo);
  EXPECT_EQ(children_of("lead").size(), 1U);
  EXPECT_EQ(family.agents("coder").size(), 1U);
}

TEST_F(DispatchCommand, is_refused_below_the_sixteenth_generation) {
  start_lead();
  std::string above = "lead";
  for (std::uint32_t generation = 2; generation <= kMostGenerations; ++generation) {
    const std::string name = "g" + std::to_string(generation);
    ASSERT_EQ(dispatch_in(above, {"--name", name}).exit, kExitYes) << name;
    know(name);
    above = name;
  }
  expect_refused(dispatch_in(above), kExitNo,
                 "tend dispatch: the tree is 16 agents deep already, and no deeper one is started: "
                 "let g16 do the work itself");
}

TEST_F(DispatchCommand, is_refused_in_a_role_that_is_a_name_of_ours) {
  start_lead();
  expect_refused(dispatch_in("lead", {"--role", "salvage"}), kExitNo,
                 "tend dispatch: --role: salvage is a name of ours, choose another");
}

TEST_F(DispatchCommand, has_no_input_to_give_to_a_child) {
  start_lead();
  const Answer answer = tend_in("lead", {"dispatch", "--stdin", "inherit", "--", "claude", "-p"});
  EXPECT_EQ(answer.exit, kExitUsage) << "there is no such option";
  expect_nothing_registered();
}

// --- Work trees ----------------------------------------------------------------------------------

TEST_F(DispatchCommand, makes_a_work_tree_on_a_branch_of_its_own) {
  family.have_repository();
  start_lead();
  working_folder = Family::kWork;
  const Answer answer = dispatch_in("lead", {"--name", "coder", "--worktree", "new", "--json"});
  ASSERT_EQ(answer.exit, kExitYes) << answer.err;
  const std::string path = answer.json()["worktree"];
  EXPECT_TRUE(path.starts_with(std::string(Family::kHome) + "/worktrees/coder-")) << path;
  EXPECT_EQ(universe.disk.read(path + "/a"), "1");
  EXPECT_EQ(universe.repositories[path].branch, "tend/" + path.substr(path.rfind('/') + 1));
  EXPECT_EQ(universe.facts(family.agents("coder").front())->working_folder, path);

  const Answer named = dispatch_in("lead", {"--worktree", "new:fix", "--json"});
  EXPECT_EQ(universe.repositories[named.json()["worktree"]].branch, "fix");
}

TEST_F(DispatchCommand, takes_a_work_tree_that_is_there) {
  family.have_repository();
  const std::string path = family.make_worktree("mine");
  start_lead();
  working_folder = Family::kWork;
  const Answer answer = dispatch_in("lead", {"--name", "coder", "--worktree", path, "--json"});
  ASSERT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_EQ(answer.json()["worktree"], path);
  know("coder");
  EXPECT_EQ(universe.facts(family.agents("coder").front())->working_folder, path);
  EXPECT_TRUE(family.text_of("coder", "agent.json").contains("own_worktree"));
}

TEST_F(DispatchCommand, asks_nothing_of_its_parent_if_there_can_be_no_work_tree) {
  start_lead();
  work_in("/home/user/plain");
  expect_refused(dispatch_in("lead", {"--name", "coder", "--worktree", "new"}), kExitNo,
                 "tend dispatch: --worktree new: /home/user/plain is not under version control");
  universe.repositories["/home/user/unborn"] = {};
  work_in("/home/user/unborn");
  expect_refused(dispatch_in("lead", {"--name", "coder", "--worktree", "new"}), kExitNo,
                 "tend dispatch: --worktree new: there is no commit yet to start from; commit "
                 "once, or use --worktree DIR");
  expect_refused(dispatch_in("lead", {"--name", "coder", "--worktree", "new:"}), kExitNo,
                 "tend dispatch: --worktree new: wants a branch after the colon");
  expect_nothing_registered();
  EXPECT_EQ(dispatch_in("lead", {"--name", "coder"}).exit, kExitYes) << "the name is free again";
  EXPECT_EQ(tend({"recover", "--dry-run"}).out, "nothing to recover\n");
}

// --- A nested `tend run` -------------------------------------------------------------------------

TEST_F(NestedRun, registers_and_becomes_a_child) {
  start_lead();
  const Answer answer = tend_in(
      "lead", {"run", "-d", "--name", "coder", "--role", "coding", "--", "claude", "-p", "do it"});
  ASSERT_EQ(answer.exit, kExitYes) << answer.err;
  know("coder");
  EXPECT_EQ(answer.out, "coder " + family.folders["coder"] + "\n");
  EXPECT_TRUE(family.folders["coder"].starts_with(family.folders["lead"] + "/coding/"));
  universe.run_for(1s);
  EXPECT_EQ(children_of("lead"), std::vector<std::string>{"coder active"});
  EXPECT_EQ(family.last_told("lead", "coder"), "working");
}

TEST_F(NestedRun, shows_the_child_to_its_end) {
  family.behaves["coder"] = work_for(1min);
  start_lead();
  const Answer answer = tend_in("lead", {"run", "--name", "coder", "--", "claude", "-p", "do it"});
  EXPECT_EQ(answer.exit, 0) << answer.err;
  EXPECT_TRUE(answer.has(claude_result())) << answer.out;
  universe.run_for(1s);
  EXPECT_EQ(family.status("lead", "coder"), "done");
}

TEST_F(NestedRun, cannot_give_its_input_to_a_child) {
  start_lead();
  expect_refused(
      tend_in("lead", {"run", "--stdin", "inherit", "--", "claude", "-p", "do it"}), kExitNo,
      "tend run: --stdin inherit cannot be had below another agent, whose keeper starts it");
  expect_nothing_registered();
}

TEST_F(NestedRun, says_that_it_becomes_a_tree_of_its_own_where_its_agent_is_of_another_time) {
  start_lead();
  Variables variables = variables_of("lead");
  variables["TEND_LIFE"] = "7";
  const Answer answer =
      tend_below(1, {"run", "-d", "--name", "other", "--", "claude", "-p", "do it"}, variables);
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_EQ(answer.err,
            "tend run: lead is in its life 1 by now, and this is of life 7: it becomes a tree of "
            "its own\n");
  know("other");
  EXPECT_EQ(family.folders["other"].find('/', std::string("/home/user/tend/sessions/").size()),
            std::string::npos);
  EXPECT_EQ(family.heartbeat("other").parent_heartbeat, "");
  EXPECT_EQ(children_of("lead"), std::vector<std::string>{});
}

}  // namespace
}  // namespace tend
