// `tend wait`: what comes, what cannot come any more, and what takes too long.
#include <gtest/gtest.h>

#include "app/reading_test.h"
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

}  // namespace
}  // namespace tend
