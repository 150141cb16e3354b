// `tend status`, `explain`, `events`, `logs` and `wait` on real processes.
#include <csignal>

#include "e2e.h"

namespace tend::e2e {
namespace {

class ReadersTest : public E2e {
 protected:
  /// Starts a worker that nobody looks at, under this name. It has no work tree: the tests may run
  /// in a repository, and nothing is to be saved there.
  void start_worker(const std::string& name, const Arguments& worker_options,
                    const Arguments& options = {}) {
    const auto ran = tend(Arguments{"run", "--detach", "--worktree", "none", "--name", name} +
                          options + Arguments{"--"} + worker(worker_options));
    ASSERT_EQ(ran.exit, 0) << ran.err;
  }

  Json agent(const std::string& name) {
    const auto ran = tend({"status", "--json", "--all"});
    const Json status = Json::parse(ran.out, nullptr, false);
    if (!status.is_object()) return {};
    for (const Json& one : status["agents"]) {
      if (one["agent"] == name) return one;
    }
    return {};
  }

  pid_t number(const Json& json, const char* field) {
    return json.is_object() && json[field].is_number() ? json[field].get<pid_t>() : 0;
  }
};

TEST_F(ReadersTest, status_of_an_empty_home_is_a_friendly_line) {
  const auto ran = tend({"status"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_TRUE(ran.out.starts_with("no agents in ")) << ran.out;
  EXPECT_EQ(ran.err, "");
}

TEST_F(ReadersTest, status_shows_one_that_works_and_one_that_failed) {
  start_worker("good", {});
  start_worker("bad", {"--lines", "3", "--exit", "4"});
  ASSERT_EQ(tend({"wait", "bad", "--timeout", "30s"}).exit, 0);
  const auto ran = tend({"status"});
  EXPECT_EQ(ran.exit, 3) << ran.out;
  EXPECT_TRUE(ran.out.starts_with("2 agents: 1 needs you, 1 working, 0 waiting, 0 done\n"))
      << ran.out;
  EXPECT_TRUE(ran.out.contains("tend logs bad")) << ran.out;
  EXPECT_EQ(agent("bad")["exit"], (Json{{"code", 4}}));
  EXPECT_EQ(agent("good")["keeper"], "alive");
  EXPECT_EQ(tend({"status", "good"}).exit, 0);
}

TEST_F(ReadersTest, status_says_that_a_keeper_was_killed_and_that_its_agent_lives_on) {
  start_worker("api", {});
  const Json before = agent("api");
  ASSERT_TRUE(kill(number(before, "keeper_pid")));
  ASSERT_TRUE(eventually([&] { return agent("api")["keeper"] == "gone"; }));
  const Json after = agent("api");
  EXPECT_EQ(after["state"], "no keeper");
  EXPECT_EQ(after["verdict"], "unknown");
  EXPECT_EQ(after["process"], "running");
  EXPECT_EQ(after["to_do"], "tend run -d --attach api");
  EXPECT_TRUE(is_running(number(after, "pid")));
}

TEST_F(ReadersTest, explain_tells_signs_and_files) {
  start_worker("api", {}, {"--policy", "agent"});
  ASSERT_EQ(tend({"wait", "api", "--for", "working", "--timeout", "30s"}).exit, 0);
  const auto ran = tend({"explain", "ap"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_TRUE(ran.out.starts_with("api: working")) << ran.out;
  for (const char* part : {"real", "beats", "process", "budget", "if nothing new is seen",
                           "suspect", "lately", "journal.jsonl"}) {
    EXPECT_TRUE(ran.out.contains(part)) << part << "\n" << ran.out;
  }
  const Json json = Json::parse(tend({"explain", "api", "--json"}).out, nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["signs"]["process"]["state"], "running");
}

TEST_F(ReadersTest, events_follow_until_ctrl_c) {
  Background events = start_tend({"events", "-f", "--json"});
  start_worker("api", {"--lines", "3"});
  EXPECT_TRUE(eventually([&] { return events.out().contains("over: "); })) << events.out();
  events.signal(SIGINT);
  const auto ended = events.wait();
  EXPECT_EQ(ended.exit, 0) << ended.err;
  for (const std::string& line : lines_of(ended.out)) {
    EXPECT_TRUE(Json::parse(line, nullptr, false).is_object()) << line;
  }
}

TEST_F(ReadersTest, logs_follow_until_the_agent_is_over) {
  start_worker("api", {"--lines", "50"});
  const auto ran = tend({"logs", "-f", "-n", "1000", "api"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_TRUE(ran.out.starts_with("line 1\n"));
  EXPECT_TRUE(ran.out.ends_with("line 50\n")) << ran.out;
  EXPECT_EQ(tend({"logs", "-n", "2", "api"}).out, "line 49\nline 50\n");
}

TEST_F(ReadersTest, wait_gives_up_in_time_and_leaves_the_agent_alone) {
  start_worker("api", {});
  const auto late = tend({"wait", "api", "--timeout", "300ms"});
  EXPECT_EQ(late.exit, 1);
  EXPECT_TRUE(late.err.contains("after 300ms")) << late.err;
  EXPECT_TRUE(is_running(number(agent("api"), "pid")));
}

}  // namespace
}  // namespace tend::e2e
