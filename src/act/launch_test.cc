// What an agent is started with.
#include "act/launch.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tend {
namespace {

using Lines = std::vector<std::string>;

LaunchOrder order_of_a_first_life() {
  return {.folder = "/home/x/sessions/s1",
          .home = "/home/x",
          .agent = "coder",
          .command = {"work", "hard"},
          .environment = {"PATH=/bin", "EMPTY=", "odd"},
          .working_folder = "/tmp",
          .output = "/home/x/sessions/s1/stream.jsonl",
          .error = "/home/x/sessions/s1/stderr.log",
          .group = "g"};
}

TEST(Launch, marks_the_agent_and_keeps_the_rest) {
  const Launch launch = make_launch(order_of_a_first_life());
  EXPECT_EQ(launch.environment,
            (Lines{"PATH=/bin", "EMPTY=", "odd", "TEND_INFRA=/home/x/sessions/s1",
                   "TEND_HOME=/home/x", "TEND_AGENT=coder", "TEND_LIFE=1"}));
  EXPECT_EQ(launch.command, (Lines{"work", "hard"}));
  EXPECT_EQ(launch.working_folder, "/tmp");
  EXPECT_EQ(launch.output, "/home/x/sessions/s1/stream.jsonl");
  EXPECT_EQ(launch.error, "/home/x/sessions/s1/stderr.log");
  EXPECT_EQ(launch.group, "g");
  EXPECT_FALSE(launch.inherit_input);
  EXPECT_TRUE(launch.extra.empty());
}

TEST(Launch, says_nothing_twice_and_nothing_that_was_meant_for_another) {
  LaunchOrder order = order_of_a_first_life();
  order.environment = {
      "TEND_INFRA=/another",  "TEND_INFRA=/doubled",     "TEND_LIFE=7",    "TEND_AGENT=another",
      "TEND_HOME=/elsewhere", "TEND_RESUME=1",           "TEND_ATTEMPT=3", "NOTIFY_SOCKET=/run/n",
      "WATCHDOG_USEC=1",      "WATCHDOG_PID=9",          "LISTEN_FDS=2",   "LISTEN_PID=9",
      "INVOCATION_ID=abc",    "TEND_PARENT_HEARTBEAT=/p"};
  EXPECT_EQ(make_launch(order).environment,
            (Lines{"TEND_INFRA=/home/x/sessions/s1", "TEND_HOME=/home/x", "TEND_AGENT=coder",
                   "TEND_LIFE=1"}));
}

TEST(Launch, names_the_task_and_lets_nobody_else_act_on_it_in_its_name) {
  LaunchOrder order = order_of_a_first_life();
  order.environment = {"TEND_TASK=another", "TEND_ACTOR=me"};
  EXPECT_EQ(make_launch(order).environment.front(), "TEND_ACTOR=me");
  order.task = "web:3";
  EXPECT_EQ(make_launch(order).environment,
            (Lines{"TEND_INFRA=/home/x/sessions/s1", "TEND_HOME=/home/x", "TEND_AGENT=coder",
                   "TEND_LIFE=1", "TEND_TASK=web:3"}));
}

TEST(Launch, leaves_names_alone_that_only_begin_like_ours) {
  LaunchOrder order = order_of_a_first_life();
  order.environment = {"TEND_INFRASTRUCTURE=1", "LISTEN_ADDRESS=::", "TEND=2"};
  const Lines environment = make_launch(order).environment;
  for (const std::string& kept : order.environment) {
    EXPECT_EQ(std::ranges::count(environment, kept), 1) << kept;
  }
}

TEST(Launch, tells_a_later_life_that_it_resumes) {
  LaunchOrder order = order_of_a_first_life();
  order.environment.clear();
  order.life = 3;
  order.resume = true;
  order.attempt = 2;
  EXPECT_EQ(make_launch(order).environment,
            (Lines{"TEND_INFRA=/home/x/sessions/s1", "TEND_HOME=/home/x", "TEND_AGENT=coder",
                   "TEND_LIFE=3", "TEND_RESUME=1", "TEND_ATTEMPT=2"}));
}

TEST(Launch, passes_parent_socket_watchdog_and_ready_descriptor) {
  LaunchOrder order = order_of_a_first_life();
  order.environment.clear();
  order.parent_heartbeat = "/home/x/sessions/p/.heartbeat";
  order.notify_socket = "/home/x/n";
  order.watchdog = std::chrono::seconds{30};
  order.ready = {5, "/home/x/fifo"};
  order.inherit_input = true;
  const Launch launch = make_launch(order);
  EXPECT_EQ(launch.environment,
            (Lines{"TEND_INFRA=/home/x/sessions/s1", "TEND_HOME=/home/x", "TEND_AGENT=coder",
                   "TEND_LIFE=1", "TEND_PARENT_HEARTBEAT=/home/x/sessions/p/.heartbeat",
                   "NOTIFY_SOCKET=/home/x/n", "WATCHDOG_USEC=30000000"}));
  ASSERT_EQ(launch.extra.size(), 1U);
  EXPECT_EQ(launch.extra.front(), (std::pair<int, std::string>{5, "/home/x/fifo"}));
  EXPECT_TRUE(launch.inherit_input);
}

TEST(Launch, tells_an_agent_in_which_language_it_is_heard) {
  LaunchOrder order;
  order.adapter = "claude";
  order.environment = {"TEND_ADAPTER=codex"};
  const auto environment = make_launch(order).environment;
  EXPECT_EQ(std::ranges::count(environment, "TEND_ADAPTER=claude"), 1);
  EXPECT_EQ(std::ranges::count(environment, "TEND_ADAPTER=codex"), 0);
}

TEST(KeeperEnvironment, carries_no_mark_and_keeps_the_home) {
  const Lines base{"PATH=/bin",    "TEND_INFRA=/f", "TEND_LIFE=2",      "TEND_AGENT=a",
                   "TEND_HOME=/h", "TEND_RESUME=1", "NOTIFY_SOCKET=/n", "HOME=/root"};
  EXPECT_EQ(keeper_environment(base), (Lines{"PATH=/bin", "TEND_HOME=/h", "HOME=/root"}));
}

TEST(Launch, S34_another_spelling_of_its_name_is_not_passed_on_to_who_holds_a_task) {
  LaunchOrder order = order_of_a_first_life();
  order.environment = {"TEND_ACTOR=rig/coder", "BD_ACTOR=rig/polecats/coder", "BEADS_ACTOR=Coder"};
  Lines environment = make_launch(order).environment;
  environment.resize(3);
  EXPECT_EQ(environment, order.environment) << "without a task it may be whoever it likes";
  order.task = "web:3";
  EXPECT_EQ(make_launch(order).environment.front(), "TEND_INFRA=/home/x/sessions/s1");
  order.environment = {"BD_ACTOR=coder"};
  EXPECT_EQ(make_launch(order).environment.front(), "BD_ACTOR=coder") << "that is its name";
}

}  // namespace
}  // namespace tend
