// Agents that work on a task, as commands see them: refused where the task is not to be had, and
// shown with what was said of it last.
#include "app/task_option.h"

#include <gtest/gtest.h>

#include "app/reading_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class TaskOption : public testing::Test {
 protected:
  void add(std::string_view id) {
    ASSERT_EQ(reading.tend({"task", "add", "--id", id, "what is to be done"}).exit, kExitYes);
  }
  void work_on(const std::string& id) {
    reading.agent.task = id;
    reading.start_worker();
    reading.universe.run_for(10s);
  }

  Reading reading;
};

TEST_F(TaskOption, refuses_before_anything_is_made_and_names_the_holder) {
  add("t1");
  reading.tend({"task", "claim", "t1", "--actor", "PinkHill"});
  const Answer held = reading.tend({"run", "--task", "t1", "--", "worker"});
  EXPECT_EQ(held.exit, kExitNo);
  EXPECT_EQ(held.err,
            "tend run: --task: 't1' is held by PinkHill (claim 1, last sign 0s ago), not by "
            "this agent\n");
  const Answer unknown = reading.tend({"run", "--task", "t2", "--", "worker"});
  EXPECT_EQ(unknown.exit, kExitNo);
  EXPECT_TRUE(unknown.err.contains("there is no task 't2'")) << unknown.err;
  reading.tend({"task", "close", "t1", "--actor", "PinkHill"});
  const Answer closed = reading.tend({"run", "--task", "t1", "--", "worker"});
  EXPECT_EQ(closed.exit, kExitNo);
  EXPECT_TRUE(closed.err.contains("'t1' is closed; `tend task reopen t1`")) << closed.err;
  EXPECT_EQ(reading.tend({"run", "--task", "", "--", "worker"}).exit, kExitUsage);
  EXPECT_TRUE(reading.tend({"status"}).has("no agents"));
}

TEST_F(TaskOption, is_shown_with_the_agent_and_what_was_said_last) {
  add("web:3");
  work_on("web:3");
  EXPECT_TRUE(reading.tend({"status"}).has("\n    task web:3\n"));
  reading.variables["TEND_TASK"] = "web:3";
  ASSERT_EQ(reading.tend({"heartbeat", "--actor", "worker-s1", "-m", "tests pass"}).exit, kExitYes);
  reading.universe.run_for(90s);
  EXPECT_TRUE(reading.tend({"status"}).has("\n    task web:3: tests pass (1m ago)\n"))
      << reading.tend({"status"}).out;
  EXPECT_TRUE(reading.tend({"tree"}).has("task web:3: tests pass (1m ago)"));
  EXPECT_TRUE(reading.tend({"explain", "worker-s1"}).has("web:3: tests pass (1m ago)"));
  for (const auto& agent : {reading.tend({"status", "--json"}).json()["agents"][0],
                            reading.tend({"tree", "--json"}).json(),
                            reading.tend({"explain", "worker-s1", "--json"}).json()}) {
    EXPECT_EQ(agent["task"]["id"], "web:3");
    EXPECT_EQ(agent["task"]["status"], "in_progress");
    EXPECT_EQ(agent["task"]["assignee"], "worker-s1");
    EXPECT_EQ(agent["task"]["heartbeat_message"], "tests pass");
  }
}

TEST_F(TaskOption, opens_no_database_for_agents_without_a_task) {
  work_on("");
  EXPECT_EQ(reading.tend({"status", "--json"}).json()["agents"][0]["task"], nullptr);
  EXPECT_TRUE(reading.universe.databases.empty());
}

TEST_F(TaskOption, can_be_left_out_of_a_heartbeat_by_its_own_agent_only) {
  const Answer answer = reading.tend({"heartbeat", "--actor", "worker-s1"});
  EXPECT_EQ(answer.exit, kExitUsage);
  EXPECT_EQ(answer.err, "tend heartbeat: which task? Say its ID, or set TEND_TASK\n");
}

}  // namespace
}  // namespace tend
