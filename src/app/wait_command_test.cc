// `tend wait`: what comes, what cannot come any more, and what takes too long.
#include <gtest/gtest.h>

#include "app/growing_test.h"
#include "app/wait_command.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

TEST(WaitCommand, knows_every_verdict) {
  for (const std::string_view verdict : kVerdictWords) {
    EXPECT_NE(std::ranges::find(kWaitWords, verdict), kWaitWords.end()) << verdict;
  }
}

TEST(WaitCommand, returns_when_the_agent_is_over_however_it_ended) {
  Reading reading;
  reading.universe.behaviours["worker"] = [](SimSelf& self) { self.exit_after(60s, 3); };
  reading.start_keeper();
  reading.universe.run_for(1s);
  const Answer answer = reading.tend({"wait", "worker"});
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_EQ(answer.out, "worker-s1: failed, exit 3\n");
  EXPECT_EQ(reading.tend({"wait", "worker"}).exit, kExitYes);
}

TEST(WaitCommand, wants_a_good_end_if_told_so) {
  Reading reading;
  reading.universe.behaviours["worker"] = [](SimSelf& self) { self.exit_after(60s, 3); };
  reading.start_keeper();
  reading.universe.run_for(1s);
  const Answer answer = reading.tend({"wait", "worker", "--for", "done"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_EQ(answer.err, "tend wait: worker-s1 will not be done: failed, exit 3\n");
}

TEST(WaitCommand, returns_when_a_verdict_has_come) {
  Reading reading;
  reading.be_patient_as_with_an_agent();
  reading.universe.behaviours["worker"] = [](SimSelf& self) { self.print_after(1s, "hello\n"); };
  reading.start_keeper();
  const Answer answer = reading.tend({"wait", "worker", "--for", "suspect"});
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_EQ(reading.heartbeat().verdict, Verdict::suspect);
}

TEST(WaitCommand, does_not_wait_for_the_end_of_one_that_is_held) {
  Reading reading;
  reading.be_patient_as_with_an_agent();
  reading.universe.behaviours["worker"] = [](SimSelf& self) { self.exit_after(2s, 4); };
  reading.start_keeper();
  const Answer answer = reading.tend({"wait", "worker", "--timeout", "1h"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_TRUE(answer.err.starts_with("tend wait: worker-s1 will not be finished: looping"))
      << answer.err;
  EXPECT_TRUE(answer.err.ends_with("see: tend unpause worker-s1\n")) << answer.err;
}

TEST(WaitCommand, gives_up_after_the_time_it_was_given) {
  Reading reading;
  reading.start_worker();
  reading.universe.run_for(5s);
  const Instant before = reading.universe.now();
  const Answer answer = reading.tend({"wait", "worker", "--timeout", "5m"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_EQ(answer.err, "tend wait: worker-s1: still working after 5m\n");
  EXPECT_EQ(reading.universe.now() - before, 5min);
}

TEST(WaitCommand, does_not_wait_for_what_nobody_will_tell) {
  Reading reading;
  reading.start_worker();
  reading.universe.run_for(5s);
  reading.universe.kill(reading.keeper);
  const Answer answer = reading.tend({"wait", "worker", "--for", "idle"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_NE(answer.err.find("put one on: tend run -d --attach worker-s1"), std::string::npos)
      << answer.err;
  EXPECT_EQ(std::ranges::count(answer.err, '\n'), 1);
}

TEST(WaitCommand, gives_a_new_keeper_the_time_to_come) {
  Reading reading;
  reading.universe.behaviours["worker"] = [](SimSelf& self) { self.exit_after(60s, 0); };
  reading.start_keeper();
  reading.universe.run_for(5s);
  reading.universe.kill(reading.keeper);
  reading.universe.after(5s, [&] { reading.start_keeper(); });
  EXPECT_EQ(reading.tend({"wait", "worker"}).exit, kExitYes);
}

TEST(WaitCommand, says_it_as_json) {
  Reading reading;
  reading.start_worker();
  reading.universe.run_for(5s);
  const auto late = reading.tend({"wait", "worker", "--timeout", "1s", "--json"});
  EXPECT_EQ(late.exit, kExitNo);
  EXPECT_EQ(late.json()["reached"], false);
  EXPECT_EQ(late.json()["timed_out"], true);
  EXPECT_EQ(late.json()["agent"]["agent"], "worker-s1");
  const auto now = reading.tend({"wait", "worker", "--for", "working", "--json"});
  EXPECT_EQ(now.exit, kExitYes);
  EXPECT_EQ(now.json()["reached"], true);
}

TEST(WaitCommand, refuses_a_state_that_there_is_not) {
  Reading reading;
  const Answer answer = reading.tend({"wait", "worker", "--for", "happy"});
  EXPECT_EQ(answer.exit, kExitUsage);
  EXPECT_NE(answer.err.find("not 'happy'"), std::string::npos);
}

// --- Several at once -----------------------------------------------------------------------------

class WaitForSeveral : public Growing {
 protected:
  /// coder ends after two minutes, tester after four.
  void grow() {
    family.behaves["coder"] = work_for(2min);
    family.behaves["tester"] = work_for(4min);
    start_lead();
    family.dispatch("lead", "coder");
    family.dispatch("lead", "tester");
    universe.run_for(5s);
  }
};

TEST_F(WaitForSeveral, returns_when_the_last_of_them_is_there) {
  grow();
  const Instant before = universe.now();
  const Answer answer = tend_in("lead", {"wait", "tester", "coder"});
  EXPECT_EQ(answer.exit, kExitYes) << answer.err;
  EXPECT_EQ(answer.out, "tester: done, exit 0\ncoder: done, exit 0\n") << "in the order asked for";
  EXPECT_GE(universe.now() - before, 220s);
  EXPECT_LE(universe.now() - before, 4min);
}

TEST_F(WaitForSeveral, exits_1_if_one_of_them_cannot_come_and_waits_for_the_others) {
  family.behaves["failing"] = [](SimSelf& self) { self.exit_after(10s, 3); };
  family.change = [](AgentFile& file) {
    if (file.agent == "failing") file.restart = RestartPolicy::never;
  };
  grow();
  family.dispatch("lead", "failing");
  universe.run_for(1s);
  const Answer answer = tend({"wait", "nobody", "failing", "coder", "--for", "done"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_EQ(answer.out, "coder: done, exit 0\n");
  EXPECT_TRUE(answer.err.starts_with("tend wait: no agent 'nobody'")) << answer.err;
  EXPECT_TRUE(answer.err.ends_with("tend wait: failing will not be done: failed, exit 3\n"))
      << answer.err;
}

TEST_F(WaitForSeveral, gives_all_of_them_one_time) {
  grow();
  const Instant before = universe.now();
  const Answer answer = tend({"wait", "lead", "tester", "coder", "--timeout", "3m"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_EQ(universe.now() - before, 3min);
  EXPECT_EQ(answer.err,
            "tend wait: lead: still working after 3m\ntend wait: tester: still working after 3m\n");
  EXPECT_EQ(answer.out, "coder: done, exit 0\n") << "it came in time, though looked at last";
}

TEST_F(WaitForSeveral, says_each_as_json) {
  grow();
  const Answer answer = tend({"wait", "coder", "lead", "--timeout", "3m", "--json"});
  EXPECT_EQ(answer.exit, kExitNo);
  const std::size_t end = answer.out.find('\n');
  const auto first = nlohmann::json::parse(answer.out.substr(0, end), nullptr, false);
  const auto second = nlohmann::json::parse(answer.out.substr(end + 1), nullptr, false);
  EXPECT_EQ(first["agent"]["agent"], "coder");
  EXPECT_EQ(first["reached"], true);
  EXPECT_EQ(second["agent"]["agent"], "lead");
  EXPECT_EQ(second["timed_out"], true);
}

}  // namespace
}  // namespace tend
