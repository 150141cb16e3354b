// Agents that work on a task: claimed when they start, closed when they are done, given back when
// they fail, refused where somebody else is at it; and a killed keeper loses nothing of that.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "e2e.h"

namespace tend::e2e {
namespace {

class TaskRunTest : public E2e {
 protected:
  [[nodiscard]] Path go() const { return scratch() / "go"; }
  [[nodiscard]] Path pids() const { return scratch() / "pids"; }
  void let_go() const { ::close(::creat(go().c_str(), 0600)); }

  /// Says something of its task, waits until the file `go` is there, and does `then`.
  [[nodiscard]] Arguments works_on_task(const std::string& then) const {
    const std::string script =
        R"(echo "main $$" >>"$2"; echo "task $TEND_TASK"; "$3" heartbeat --quiet -m "half done"; )"
        R"(while [ ! -e "$1" ]; do echo on; sleep 0.1; done; )";
    return {"sh", "-c", script + then, "sh", go().string(), pids().string(), TEND_BINARY};
  }
  void add(const std::string& id) {
    const Finished added = tend({"task", "add", "--id", id, "what is to be done"});
    ASSERT_EQ(added.exit, 0) << added.err;
  }
  Json task(const std::string& id) {
    return Json::parse(tend({"task", "show", id, "--json"}).out, nullptr, false);
  }
  std::string status(const std::string& id) { return text_in(task(id), "status"); }
  bool await_status(const std::string& id, const std::string& wanted) {
    return eventually([&] { return status(id) == wanted; });
  }
  bool await_words(const std::string& id) {
    return eventually([&] { return text_in(task(id), "heartbeat_message") == "half done"; });
  }
};

TEST_F(TaskRunTest, run_claims_a_task_shows_what_is_said_of_it_and_closes_it) {
  add("my-workflow:3-zyci.2.1");
  const std::string id = "my-workflow:3-zyci.2.1";
  Background viewer =
      start_tend(Arguments{"run", "--name", "a", "--task", id, "--"} + works_on_task("exit 0"));
  ASSERT_TRUE(await_words(id)) << viewer.err();
  EXPECT_EQ(status(id), "in_progress");
  EXPECT_EQ(text_in(task(id), "assignee"), "a");
  for (const char* reader : {"status", "tree"}) {
    const Finished shown = tend({reader});
    EXPECT_TRUE(shown.out.contains("task " + id + ": half done")) << shown.out;
  }
  EXPECT_TRUE(tend({"explain", "a"}).out.contains(id + ": half done"));
  const Json shown = Json::parse(tend({"explain", "a", "--json"}).out, nullptr, false);
  EXPECT_EQ(text_in(shown.at("task"), "id"), id);
  EXPECT_EQ(text_in(shown.at("task"), "heartbeat_message"), "half done");
  // The keeper writes down that it holds the task when it next looks.
  EXPECT_TRUE(eventually([&] {
    const Json now = Json::parse(tend({"explain", "a", "--json"}).out, nullptr, false);
    return number_in(now.at("signs"), "tasks") == 1;
  }));
  EXPECT_TRUE(read_file(only_agent() / "signals.jsonl").contains(R"("event":"beat")"));
  let_go();
  EXPECT_EQ(viewer.wait().exit, 0);
  EXPECT_TRUE(viewer.out().contains("task " + id)) << viewer.out();
  EXPECT_EQ(status(id), "closed");
  EXPECT_EQ(text_in(task(id), "close_reason"), "a: done, exit 0");
}

TEST_F(TaskRunTest, a_command_that_fails_gives_its_task_back_and_says_why) {
  add("t1");
  let_go();
  const Finished ran = tend(Arguments{"run", "--task", "t1", "--"} + works_on_task("exit 3"));
  EXPECT_EQ(ran.exit, 3) << ran.err;
  EXPECT_EQ(status("t1"), "open");
  EXPECT_TRUE(task("t1").at("assignee").is_null());
  EXPECT_EQ(text_in(task("t1"), "heartbeat_message"), "half done; given back: failed, exit 3");
}

TEST_F(TaskRunTest, nothing_is_started_for_a_task_that_is_not_to_be_had) {
  add("t1");
  ASSERT_EQ(tend({"task", "claim", "t1", "--actor", "PinkHill"}).exit, 0);
  const auto refused = [&](const std::string& id) {
    const Finished ran = tend({"run", "--task", id, "--", "touch", (scratch() / "ran").string()});
    EXPECT_EQ(ran.exit, 1);
    EXPECT_EQ(lines_of(ran.err).size(), 1U) << ran.err;
    EXPECT_TRUE(agent_folders().empty());
    EXPECT_FALSE(std::filesystem::exists(scratch() / "ran"));
    return ran.err;
  };
  EXPECT_TRUE(refused("t1").contains("PinkHill"));
  EXPECT_TRUE(refused("t2").contains("there is no task"));
  ASSERT_EQ(tend({"task", "close", "t1", "--actor", "PinkHill"}).exit, 0);
  EXPECT_TRUE(refused("t1").contains("is closed"));
  EXPECT_EQ(tend({"run", "--task", "", "--", "true"}).exit, 2);
}

TEST_F(TaskRunTest, a_keeper_that_is_killed_leaves_the_claim_to_its_successor) {
  add("t1");
  const Path folder = keep({"--name", "a", "--task", "t1"}, works_on_task(R"("$3" done; exit 0)"));
  const pid_t agent = pid_of(pids(), "main");
  ASSERT_TRUE(await_words("t1"));
  const auto keeper = static_cast<pid_t>(number_in(heartbeat_of(folder), "keeper_pid"));
  ASSERT_TRUE(kill(keeper));
  ASSERT_TRUE(eventually([&] { return !is_running(keeper); }));
  EXPECT_EQ(text_in(task("t1"), "assignee"), "a");
  ASSERT_EQ(tend({"run", "-d", "--attach", "a"}).exit, 0);
  let_go();
  ASSERT_TRUE(eventually([&] { return waitpid(agent, nullptr, WNOHANG) == agent; }));
  EXPECT_TRUE(await_status("t1", "closed")) << task("t1").dump();
  EXPECT_EQ(number_in(task("t1"), "fence"), 1);
  EXPECT_TRUE(await(folder, [](const Json& h) { return text_in(h, "outcome") == "done"; }));
}

TEST_F(TaskRunTest, dispatch_claims_for_the_child_and_a_stop_gives_back) {
  add("t1");
  add("t2");
  keep({"--name", "lead", "--task", "t1"}, works_on_task("exit 0"));
  ASSERT_TRUE(await_words("t1"));
  const Finished refused =
      tend({"dispatch", "--parent", "lead", "--task", "t1", "--", "sleep", "600"});
  EXPECT_EQ(refused.exit, 1);
  EXPECT_TRUE(refused.err.contains("held by lead")) << refused.err;
  const Finished child = tend(
      {"dispatch", "--parent", "lead", "--name", "child", "--task", "t2", "--", "sleep", "600"});
  ASSERT_EQ(child.exit, 0) << child.err;
  EXPECT_EQ(text_in(task("t2"), "assignee"), "child");
  ASSERT_EQ(tend({"stop", "child"}).exit, 0);
  EXPECT_TRUE(await_status("t2", "open"));
  EXPECT_EQ(text_in(task("t2"), "heartbeat_message"), "given back: stopped, tend stop");
  EXPECT_EQ(status("t1"), "in_progress");
  let_go();
  EXPECT_TRUE(await_status("t1", "closed"));
}

}  // namespace
}  // namespace tend::e2e
