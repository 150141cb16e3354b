// kill -9 at every call of the machine between the claim of a task and its end: whatever the
// moment, the task is claimed once, and closed or given back once, and never forgotten.
#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "run/task_test.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kMostTries = 150;  // of one story
constexpr Duration kReplacedAfter = 2s;
constexpr Duration kSettles = 8min;

struct Story {
  std::function<void(Kept&, TasksAtHome&)> set_up;
  Duration takes{};
  std::function<void(Kept&, TasksAtHome&)> check;
};

/// Plays it with the keeper killed at its n-th call; 0: undisturbed. The calls that it made.
std::uint64_t play(const Story& story, std::uint64_t n) {
  Kept kept;
  TasksAtHome tasks(kept.universe);
  kept.be_patient_as_with_an_agent();
  kept.agent.task = "t1";
  tasks.add("t1");
  story.set_up(kept, tasks);
  const std::int64_t first = kept.start_keeper();
  if (n > 0) kept.universe.kill_at_call(first, n);
  const Instant end = kept.universe.now() + story.takes;
  const bool ended =
      kept.universe.run_until([&] { return !kept.universe.runs(first); }, story.takes);
  if (ended && n > 0) {
    kept.universe.run_for(kReplacedAfter);
    if (kept.keeper == first) kept.start_keeper();
  }
  const std::uint64_t calls = kept.universe.calls(first);
  kept.universe.run_until(std::max(end, kept.universe.now() + kSettles));
  EXPECT_EQ(kept.problem, "");
  story.check(kept, tasks);
  kept.check_replay();
  return calls;
}

void play_at_every_call(const Story& story) {
  const std::uint64_t calls = play(story, 0);
  ASSERT_FALSE(testing::Test::HasFailure()) << "undisturbed";
  ASSERT_GT(calls, 20U);
  const std::uint64_t step = std::max<std::uint64_t>(1, calls / kMostTries);
  for (std::uint64_t n = 1; n <= calls; n += step) {
    play(story, n);
    ASSERT_FALSE(testing::Test::HasFailure()) << "killed at call " << n << " of " << calls;
  }
}

void work_and_exit(Kept& kept, Duration time, int code) {
  kept.universe.behaviours["worker"] = [time, code](SimSelf& self) {
    print_now_and_then(self);
    self.exit_after(time, code);
  };
}

TEST(TaskCrash, is_claimed_once_and_closed_once) {
  play_at_every_call({.set_up = [](Kept& kept, TasksAtHome&) { work_and_exit(kept, 15s, 0); },
                      .takes = 2min,
                      .check =
                          [](Kept& kept, TasksAtHome& tasks) {
                            EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::done);
                            EXPECT_EQ(tasks.history(),
                                      (std::vector<std::string>{"in_progress 1", "closed 1"}));
                          }});
}

TEST(TaskCrash, is_given_back_once_by_one_that_failed) {
  play_at_every_call(
      {.set_up =
           [](Kept& kept, TasksAtHome&) {
             kept.agent.restart = RestartPolicy::never;
             work_and_exit(kept, 15s, 3);
           },
       .takes = 2min,
       .check =
           [](Kept& kept, TasksAtHome& tasks) {
             EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::failed);
             EXPECT_EQ(tasks.history(), (std::vector<std::string>{"in_progress 1", "open 1"}));
             const std::string words = tasks.task("t1").heartbeat_message.value_or("");
             EXPECT_TRUE(words.starts_with("given back: failed, ")) << words;
             EXPECT_EQ(words.find("given back", 1), std::string::npos) << words;
           }});
}

TEST(TaskCrash, is_beaten_by_whoever_keeps_its_agent) {
  play_at_every_call({.set_up =
                          [](Kept& kept, TasksAtHome&) {
                            kept.agent.beat = 2min;
                            kept.universe.behaviours["worker"] = print_now_and_then;
                          },
                      .takes = 13min,
                      .check =
                          [](Kept& kept, TasksAtHome& tasks) {
                            EXPECT_EQ(kept.workers().size(), 1U);
                            EXPECT_EQ(tasks.history(), std::vector<std::string>{"in_progress 1"});
                            const auto beat = tasks.task("t1").last_heartbeat;
                            ASSERT_TRUE(beat);
                            EXPECT_GE(*beat, kept.universe.wall() - 7min);
                          }});
}

TEST(TaskCrash, that_is_lost_is_told_and_never_taken_back) {
  play_at_every_call({.set_up =
                          [](Kept& kept, TasksAtHome& tasks) {
                            kept.universe.behaviours["worker"] = print_now_and_then;
                            kept.universe.after(20s, [&tasks] { tasks.give("t1", "other"); });
                          },
                      .takes = 8min,
                      .check =
                          [](Kept& kept, TasksAtHome& tasks) {
                            EXPECT_EQ(kept.workers().size(), 1U);
                            EXPECT_EQ(tasks.task("t1").assignee, "other");
                            EXPECT_EQ(tasks.task("t1").last_heartbeat, std::nullopt);
                            const std::string inbox = kept.text_of("inbox.jsonl");
                            EXPECT_EQ(std::ranges::count(inbox, '\n'), 1) << inbox;
                          }});
}

}  // namespace
}  // namespace tend
