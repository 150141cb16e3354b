// `tend explain`: every sign, what follows, what was done.
#include <gtest/gtest.h>

#include "app/reading_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class ExplainCommand : public ::testing::Test {
 protected:
  void start_one_that_hangs() {
    reading.be_patient_as_with_an_agent();
    reading.universe.behaviours["worker"] = [](SimSelf& self) { self.print_after(1s, "hello\n"); };
    reading.start_keeper();
  }

  Reading reading;
};

TEST_F(ExplainCommand, tells_whose_turn_it_is_and_every_sign_with_age_and_limit) {
  start_one_that_hangs();
  reading.universe.run_for(101s);
  const Answer answer = reading.tend({"explain", "worker"});
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_EQ(answer.out.find("worker-s1: working for 1m"), 0U) << answer.out;
  EXPECT_TRUE(answer.has("turn        the model's: an answer is awaited\n")) << answer.out;
  EXPECT_TRUE(answer.has("real        last 1m 40s ago, limit 12m 00s\n")) << answer.out;
  EXPECT_TRUE(answer.has("beats       none in this life\n")) << answer.out;
  EXPECT_TRUE(answer.has("process     running, pid ")) << answer.out;
  EXPECT_TRUE(answer.has("tools       none open\n")) << answer.out;
  EXPECT_TRUE(answer.has("planes      none says it is stalled\n")) << answer.out;
  EXPECT_TRUE(answer.has("budget      0 of 3 used since the last refill, 0 of 9 over all lives"))
      << answer.out;
}

TEST_F(ExplainCommand, tells_what_happens_if_nothing_new_is_seen) {
  reading.agent.worktree = "/home/user";
  start_one_that_hangs();
  reading.universe.run_for(101s);
  const Answer answer = reading.tend({"explain", "worker"});
  EXPECT_TRUE(answer.has("in 10m 20s  suspect: a warning is written, it is asked for a sign\n"))
      << answer.out;
  EXPECT_TRUE(answer.has("in 12m 20s  stalled: work is saved")) << answer.out;
  EXPECT_TRUE(answer.has("(attempt 1 of 3)")) << answer.out;
}

TEST_F(ExplainCommand, tells_which_planes_agree_once_it_is_in_doubt) {
  start_one_that_hangs();
  reading.universe.run_for(800s);
  const Answer answer = reading.tend({"explain", "worker"});
  EXPECT_TRUE(answer.has("worker-s1: suspect")) << answer.out;
  EXPECT_TRUE(answer.has("2 of the 2 needed agree that it is stalled: process, stream"))
      << answer.out;
}

TEST_F(ExplainCommand, tells_what_was_decided_lately_and_what_came_of_it) {
  start_one_that_hangs();
  reading.universe.run_for(900s);
  const Answer answer = reading.tend({"explain", "worker"});
  EXPECT_TRUE(answer.has("lately (UTC)")) << answer.out;
  EXPECT_TRUE(answer.has("kill: silent 840 s in phase model (limit 720 s) (ended by SIGINT)"))
      << answer.out;
  EXPECT_TRUE(answer.has("(life 2 begun)")) << answer.out;
}

TEST_F(ExplainCommand, tells_that_the_account_is_void_without_a_keeper) {
  start_one_that_hangs();
  reading.universe.run_for(101s);
  reading.universe.kill(reading.keeper);
  const Answer answer = reading.tend({"explain", "worker"});
  EXPECT_TRUE(answer.has("worker-s1: no keeper")) << answer.out;
  EXPECT_TRUE(answer.has("to do       tend run -d --attach worker-s1\n")) << answer.out;
  EXPECT_TRUE(answer.has("what follows was true then")) << answer.out;
  EXPECT_FALSE(answer.has("if nothing new is seen")) << answer.out;
}

TEST_F(ExplainCommand, tells_how_one_that_is_over_ended) {
  reading.universe.behaviours["worker"] = [](SimSelf& self) { self.exit_after(5s, 3); };
  reading.start_keeper();
  reading.universe.run_for(60s);
  const Answer answer = reading.tend({"explain", "worker"});
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_EQ(answer.out.find("worker-s1: failed"), 0U) << answer.out;
  EXPECT_TRUE(answer.has("exit 3")) << answer.out;
  EXPECT_FALSE(answer.has("if nothing new is seen")) << answer.out;
}

TEST_F(ExplainCommand, says_the_same_as_json) {
  start_one_that_hangs();
  reading.universe.run_for(101s);
  const auto json = reading.tend({"explain", "worker", "--json"}).json();
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["verdict"], "working");
  EXPECT_EQ(json["signs"]["real"]["age_s"], 100);
  EXPECT_EQ(json["signs"]["real"]["limit_s"], 720);
  EXPECT_EQ(json["signs"]["tools"], nlohmann::json::array());
  EXPECT_EQ(json["signs"]["children"], nlohmann::json::array());
  EXPECT_EQ(json["planes"]["needed"], 2);
  EXPECT_EQ(json["budget"]["allowed_ever"], 9);
  ASSERT_FALSE(json["foreseen"].empty());
  EXPECT_EQ(json["foreseen"][0]["what"], "suspect");
  EXPECT_EQ(json["foreseen"][0]["in_s"], 620);
  EXPECT_TRUE(json["lately"].is_array());
  EXPECT_EQ(json["files"]["journal"], Kept::path("journal.jsonl"));
}

TEST_F(ExplainCommand, goes_on_without_a_journal_and_says_so) {
  start_one_that_hangs();
  reading.universe.run_for(101s);
  reading.universe.disk.write(Kept::path("journal.jsonl"), "{\"t\":1,\"is\":\"progress\"}\n");
  const Answer answer = reading.tend({"explain", "worker"});
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_TRUE(answer.has("its journal cannot be read")) << answer.out;
  EXPECT_TRUE(reading.tend({"explain", "worker", "--json"}).json()["signs"].is_null());
}

TEST_F(ExplainCommand, says_in_one_line_that_there_is_no_such_agent) {
  const Answer answer = reading.tend({"explain", "nobody"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_EQ(answer.err, "tend explain: no agent 'nobody': there are none in /home/user/tend\n");
}

}  // namespace
}  // namespace tend
