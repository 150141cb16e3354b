// `tend stop`, `pause` and `unpause` as people see them, and names that are taken.
#include <gtest/gtest.h>

#include "app/reading_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

/// A keeper on a process that something else started.
class Watching : public testing::Test {
 protected:
  Watching() {
    reading.universe.behaviours["editor"] = [](SimSelf&) {};
    Machine& machine = reading.universe.machine("shell");
    EXPECT_TRUE(machine.processes.detach({.command = {"editor"}, .environment = {}}));
    reading.universe.run_for(1s);
    editor = reading.universe.pids("editor").front();
    reading.agent.command.clear();
    reading.agent.watched = reading.universe.facts(editor)->id;
    reading.start_keeper();
    reading.universe.run_for(5s);
  }
  [[nodiscard]] RunState state() const { return reading.universe.facts(editor)->state; }

  Reading reading;
  std::int64_t editor = 0;
};

TEST_F(Watching, is_over_by_an_order_and_says_no_more_than_that) {
  const Answer answer = reading.tend({"stop", "worker-s1"});
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_EQ(answer.out, "worker-s1: no longer watched\n");
  EXPECT_EQ(state(), RunState::running);
}

TEST_F(Watching, is_suspended_by_an_order_and_stops_nothing) {
  EXPECT_EQ(reading.tend({"pause", "worker-s1"}).out, "worker-s1: no longer judged\n");
  EXPECT_EQ(state(), RunState::running);
  EXPECT_EQ(reading.tend({"unpause", "worker-s1"}).out, "worker-s1: judged again\n");
}

TEST_F(Watching, of_one_process_is_done_once) {
  const Answer answer = reading.tend({"watch", std::to_string(editor)});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_EQ(answer.err, "tend watch: process " + std::to_string(editor) +
                            " has a keeper already, as worker-s1; see `tend explain worker-s1`\n");
}

TEST_F(Watching, needs_a_number_or_a_session) {
  const Answer answer = reading.tend({"watch", "abc"});
  EXPECT_EQ(answer.exit, kExitUsage);
  EXPECT_EQ(answer.err,
            "tend watch: wants the number of a process, tmux:SESSION or store:NAME, not 'abc'\n");
}

TEST(OrderCommands, stop_pause_and_let_go_on) {
  Reading reading;
  reading.start_worker();
  reading.universe.run_for(5s);
  EXPECT_EQ(reading.tend({"pause", "worker-s1"}).out, "worker-s1: paused\n");
  EXPECT_EQ(reading.tend({"unpause", "worker-s1"}).out, "worker-s1: running\n");
  EXPECT_EQ(reading.tend({"stop", "worker-s1"}).out, "worker-s1: stopped\n");
}

TEST(OrderCommands, to_stop_one_that_went_down_with_its_machine_keep_it_from_coming_back) {
  Reading reading;
  reading.start_worker();
  reading.universe.run_for(5s);
  reading.universe.order(reading.keeper, Order::terminate);
  reading.universe.run_for(1min);
  EXPECT_TRUE(reading.tend({"recover", "--dry-run"}).out.contains("resume"));
  const Answer answer = reading.tend({"stop", "worker-s1"});
  EXPECT_EQ(answer.exit, kExitYes);
  EXPECT_EQ(
      answer.out,
      "worker-s1: over already (SIGTERM to its keeper), and not to be brought back any more\n");
  EXPECT_FALSE(reading.tend({"recover", "--dry-run"}).out.contains("resume"));
}

TEST(OrderCommands, that_come_too_late_take_no_stop_back) {
  Reading reading;
  reading.universe.behaviours["worker"] = [](SimSelf& self) {
    print_now_and_then(self);
    self.ignore(Kill::interrupt);
    self.ignore(Kill::terminate);
  };
  reading.start_keeper();
  reading.universe.run_for(5s);
  reading.say({.want = Want::stop, .by = "tend stop", .at = 1});
  for (const char* const late : {"pause", "unpause"}) {
    const Answer answer = reading.tend({late, "worker-s1"});
    EXPECT_EQ(answer.exit, kExitNo);
    EXPECT_EQ(answer.err,
              std::string("tend ") + late + ": worker-s1 is being stopped (tend stop)\n");
  }
  reading.universe.run_for(1min);
  EXPECT_EQ(reading.heartbeat().outcome, WorkOutcome::stopped);
}

TEST(OrderCommands, let_one_that_is_held_go_on) {
  Reading reading;
  reading.be_patient_as_with_an_agent();
  bool cured = false;
  reading.universe.behaviours["worker"] = [&](SimSelf& self) {
    cured ? print_now_and_then(self) : self.exit_after(2s, 1);
  };
  reading.start_keeper();
  reading.universe.run_for(5min);
  const Answer held = reading.tend({"status"});
  EXPECT_EQ(held.exit, kExitNeedsYou);
  EXPECT_TRUE(held.has("-> tend unpause worker-s1\n")) << held.out;
  const Answer why = reading.tend({"explain", "worker-s1"});
  EXPECT_TRUE(why.has("tend unpause worker-s1\n              begins its next life now")) << why.out;
  cured = true;
  EXPECT_EQ(reading.tend({"unpause", "worker-s1"}).out, "worker-s1: running\n");
  EXPECT_EQ(reading.workers().size(), 1U);
}

TEST(RunCommand, refuses_a_name_that_is_taken) {
  Reading reading;
  reading.start_worker();
  reading.universe.run_for(5s);
  const Answer answer = reading.tend({"run", "--name", "worker-s1", "--", "worker"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_TRUE(answer.err.starts_with("tend run: worker-s1 is not over; `tend stop worker-s1`"))
      << answer.err;
  EXPECT_EQ(reading.workers().size(), 1U);
}

}  // namespace
}  // namespace tend
