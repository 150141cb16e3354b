// An agent that works on a task: what its keeper claims, beats, closes and gives back, and that
// nothing which goes wrong there ends the agent.
#include "run/task_work.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "run/task_test.h"
#include "store/inbox.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

class TaskWorkTest : public KeptTest {
 protected:
  TaskWorkTest() {
    kept.agent.task = "t1";
    tasks.add("t1");
  }

  /// Works, and then exits.
  void work_for(Duration time, int code = 0) {
    behave([time, code](SimSelf& self) {
      print_now_and_then(self);
      self.exit_after(time, code);
    });
  }
  Task task() { return tasks.task("t1"); }
  [[nodiscard]] int told(const std::string& words) const {
    std::istringstream lines(
        universe.disk.read(std::string(Kept::kHome) + "/events.jsonl").value_or(""));
    int count = 0;
    for (std::string line; std::getline(lines, line);) count += line.contains(words) ? 1 : 0;
    return count;
  }
  [[nodiscard]] int signals(const std::string& event) const {
    std::istringstream lines(kept.text_of("journal.jsonl"));
    int count = 0;
    for (std::string line; std::getline(lines, line);) {
      const bool is_it = line.contains(R"("is":"task")") && line.contains(R"("task":"t1")") &&
                         line.contains("\"" + event + "\"");
      count += is_it ? 1 : 0;
    }
    return count;
  }
  Inbox inbox() {
    return read_inbox(*universe.machine().folders.open(Kept::kFolder).value()).value();
  }
  void replace_keeper() {
    universe.kill(kept.keeper);
    universe.run_for(2s);
    kept.start_keeper();
  }
  /// When it was beaten in that time, each beat once.
  std::vector<WallTime> beats(Duration time) {
    std::set<WallTime> seen;
    for (Duration passed{}; passed < time; passed += 10s) {
      universe.run_for(10s);
      if (const auto beat = task().last_heartbeat) seen.insert(*beat);
    }
    return {seen.begin(), seen.end()};
  }

  TasksAtHome tasks{universe};
};

TEST_F(TaskWorkTest, is_claimed_before_the_first_life_and_closed_when_the_work_is_done) {
  std::string seen_by_agent;
  behave([&](SimSelf& self) {
    seen_by_agent = self.variable("TEND_TASK").value_or("") + " " + task().status;
    print_now_and_then(self);
    self.exit_after(60s, 0);
  });
  kept.start_keeper();
  universe.run_for(10s);
  EXPECT_EQ(seen_by_agent, "t1 in_progress");
  EXPECT_EQ(task().assignee, "worker-s1");
  EXPECT_EQ(task().worker, Kept::kFolder);
  EXPECT_EQ(kept.heartbeat().task, "t1");
  universe.run_for(2min);
  EXPECT_TRUE(kept.over());
  EXPECT_EQ(task().close_reason, "worker-s1: done, exit 0");
  EXPECT_EQ(tasks.history(), (std::vector<std::string>{"in_progress 1", "closed 1"}));
  EXPECT_EQ(signals("claim"), 1);
  EXPECT_EQ(signals("close"), 1);
  kept.check_replay();
}

TEST_F(TaskWorkTest, is_given_back_when_the_work_failed_and_says_why_behind_the_last_words) {
  kept.agent.restart = RestartPolicy::never;
  work_for(60s, 3);
  kept.start_keeper();
  universe.run_for(30s);
  tasks.beat("t1", "worker-s1", "half done");
  universe.run_for(2min);
  EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::failed);
  EXPECT_EQ(task().status, kOpen);
  EXPECT_EQ(task().assignee, std::nullopt);
  EXPECT_EQ(task().heartbeat_message, "half done; given back: failed, exit 3");
  EXPECT_EQ(signals("release"), 1);
  EXPECT_EQ(told("given back: failed, exit 3"), 1);
  kept.check_replay();
}

TEST_F(TaskWorkTest, is_given_back_when_it_is_stopped) {
  kept.start_keeper();
  universe.run_for(20s);
  stop();
  universe.run_for(2min);
  expect_stopped();
  EXPECT_EQ(task().status, kOpen);
  EXPECT_EQ(task().heartbeat_message, "given back: stopped, tend stop");
}

TEST_F(TaskWorkTest, is_given_back_by_its_own_word) {
  behave([](SimSelf& self) {
    self.write(*self.variable("TEND_INFRA") + "/outcome.json",
               R"({"outcome":"withdrawn","life":1})");
    self.exit_after(5s, 0);
  });
  kept.start_keeper();
  universe.run_for(2min);
  EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::withdrawn);
  EXPECT_EQ(tasks.history(), (std::vector<std::string>{"in_progress 1", "open 1"}));
}

TEST_F(TaskWorkTest, is_not_begun_if_somebody_else_is_at_it) {
  tasks.claim("t1", "other");
  kept.start_keeper();
  universe.run_for(1min);
  EXPECT_EQ(starts(), 0);
  EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::failed);
  EXPECT_EQ(kept.heartbeat().exit, (Exit{Exit::How::code, 1}));
  EXPECT_EQ(kept.heartbeat().note, "task 't1' is held by other");
  EXPECT_EQ(task().assignee, "other");
  EXPECT_FALSE(universe.runs(kept.keeper));
}

TEST_F(TaskWorkTest, is_not_begun_if_there_is_nothing_to_do) {
  tasks.claim("t1", "worker-s1");
  tasks.close("t1", "worker-s1");
  kept.start_keeper();
  universe.run_for(1min);
  EXPECT_EQ(starts(), 0);
  EXPECT_EQ(kept.heartbeat().note, "task 't1' is closed");
  EXPECT_EQ(task().status, kClosed);
}

TEST_F(TaskWorkTest, is_not_begun_if_nobody_knows_it) {
  kept.agent.task = "t2";
  kept.start_keeper();
  universe.run_for(1min);
  EXPECT_EQ(starts(), 0);
  EXPECT_EQ(kept.heartbeat().note, "there is no task 't2'");
}

// --- Beats --------------------------------------------------------------------------------------

TEST_F(TaskWorkTest, is_beaten_every_four_to_six_minutes_and_its_message_is_left_alone) {
  kept.start_keeper();
  universe.run_for(10s);
  tasks.beat("t1", "worker-s1", "tests pass");
  const WallTime updated = task().updated_at;
  const std::vector<WallTime> all = beats(2h);
  ASSERT_GE(all.size(), 20U);
  std::set<WallTime::duration> gaps;
  for (std::size_t i = 2; i < all.size(); ++i) {
    gaps.insert(all[i] - all[i - 1]);
    EXPECT_GE(all[i] - all[i - 1], 4min);
    EXPECT_LE(all[i] - all[i - 1], 6min + 1s);
  }
  EXPECT_GT(gaps.size(), 5U) << "many that began together are not to beat together";
  EXPECT_EQ(task().heartbeat_message, "tests pass");
  EXPECT_EQ(task().updated_at, updated);
  EXPECT_EQ(signals("beat"), 0) << "a keeper's beat proves nothing of its agent";
}

TEST_F(TaskWorkTest, is_beaten_before_the_patrol_would_miss_a_beat_in_every_context) {
  struct Case {
    TaskContext context;
    Duration stale;
    Duration at_most;
  };
  for (const Case& one :
       {Case{TaskContext::critical, 5min, 3min}, Case{TaskContext::overnight, 30min, 6min},
        Case{TaskContext::active, 1min, 36s}}) {
    SCOPED_TRACE(kTaskContextWords[static_cast<std::size_t>(one.context)]);
    const auto place = static_cast<std::size_t>(one.context);
    kept.config.patrol.paces.at(place) = patrol_pace(one.stale);
    tasks.set_context("t1", one.context);
    kept.start_keeper();
    universe.run_for(10min);
    const std::vector<WallTime> all = beats(30min);
    ASSERT_GT(all.size(), 4U);
    for (std::size_t i = 2; i < all.size(); ++i) {
      EXPECT_LE(all[i] - all[i - 1], one.at_most + 1s);
      EXPECT_GE(all[i] - all[i - 1], one.at_most * 2 / 3 - 1s);
    }
    universe.kill(kept.keeper);
    universe.run_for(2s);
  }
}

TEST_F(TaskWorkTest, is_not_beaten_while_its_agent_is_silent_beyond_its_limit) {
  kept.policy.limits.confirm = 10h;
  behave([](SimSelf& self) {
    self.print_after(1s, "hello\n");
    self.print_after(40min, "back\n");
  });
  kept.start_keeper();
  universe.run_for(39min);
  ASSERT_EQ(word(kept.heartbeat().verdict), "suspect");
  EXPECT_EQ(kept.workers().size(), 1U);
  EXPECT_EQ(task().last_heartbeat, std::nullopt);
  universe.run_for(2min);
  ASSERT_EQ(word(kept.heartbeat().verdict), "working");
  EXPECT_NE(task().last_heartbeat, std::nullopt);
}

TEST_F(TaskWorkTest, is_beaten_while_what_its_agent_waits_for_has_a_name) {
  kept.start_keeper();
  universe.run_for(10s);
  pause();
  universe.run_for(10s);
  ASSERT_EQ(word(kept.heartbeat().verdict), "waiting");
  EXPECT_GE(beats(31min).size(), 5U);
}

TEST_F(TaskWorkTest, keeps_its_claim_over_lives_and_keepers) {
  behave([](SimSelf& self) {
    print_now_and_then(self);
    // Nobody sees the end of one whose keeper was replaced.
    if (self.variable("TEND_LIFE") == "2") self.exit_after(20min, 0);
    if (self.variable("TEND_LIFE") == "3") self.exit_after(5min, 0);
  });
  kept.start_keeper();
  universe.run_for(7min);
  replace_keeper();
  universe.run_for(7min);
  kill_worker();
  universe.run_for(7min);
  expect_working(2);
  EXPECT_EQ(task().fence, 1);
  EXPECT_GT(task().last_heartbeat, universe.wall() - 7min);
  replace_keeper();
  universe.run_for(30min);
  EXPECT_EQ(tasks.history(), (std::vector<std::string>{"in_progress 1", "closed 1"}));
  kept.check_replay();
}

// --- What goes wrong ----------------------------------------------------------------------------

TEST_F(TaskWorkTest, goes_on_while_its_beats_fail_and_says_so_once) {
  kept.start_keeper();
  universe.run_for(1min);
  tasks.break_it();
  universe.run_for(1h);
  expect_working(1);
  EXPECT_EQ(task().last_heartbeat, std::nullopt);
  EXPECT_EQ(told("could not be beaten"), 1);
  tasks.mend_it();
  universe.run_for(2min);
  EXPECT_NE(task().last_heartbeat, std::nullopt);
  EXPECT_EQ(told("can be reached again"), 1);
}

TEST_F(TaskWorkTest, begins_without_a_claim_where_nobody_can_be_asked_and_claims_later) {
  tasks.break_it();
  kept.start_keeper();
  universe.run_for(5min);
  expect_working(1);
  EXPECT_EQ(told("could not be claimed"), 1);
  tasks.mend_it();
  universe.run_for(2min);
  EXPECT_EQ(task().assignee, "worker-s1");
  EXPECT_EQ(tasks.history(), std::vector<std::string>{"in_progress 1"});
}

TEST_F(TaskWorkTest, ends_all_the_same_when_nobody_can_be_told_and_says_what_is_left_to_do) {
  work_for(1min);
  kept.start_keeper();
  universe.run_for(30s);
  tasks.break_it();
  universe.run_for(10min);
  EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::done);
  EXPECT_FALSE(universe.runs(kept.keeper));
  EXPECT_EQ(told("`tend task close t1 --actor worker-s1` does it"), 1);
}

TEST_F(TaskWorkTest, is_closed_after_a_while_if_it_could_not_be_at_once) {
  work_for(1min);
  kept.start_keeper();
  universe.run_for(30s);
  tasks.break_it();
  universe.after(1min, [&] { tasks.mend_it(); });
  universe.run_for(5min);
  EXPECT_EQ(task().status, kClosed);
  EXPECT_TRUE(kept.over());
}

TEST_F(TaskWorkTest, outlives_a_full_disk_and_is_closed_behind_it) {
  work_for(30min);
  kept.start_keeper();
  universe.run_for(1min);
  universe.disk.room = 0;
  universe.run_for(50min);
  EXPECT_FALSE(kept.over());
  EXPECT_EQ(starts(), 1);
  universe.disk.room.reset();
  universe.run_for(5min);
  EXPECT_TRUE(kept.over());
  EXPECT_EQ(tasks.history(), (std::vector<std::string>{"in_progress 1", "closed 1"}));
}

TEST_F(TaskWorkTest, that_is_lost_is_told_once_and_let_go_while_its_agent_works_on) {
  work_for(1h);
  kept.start_keeper();
  universe.run_for(1min);
  tasks.give("t1", "other");
  universe.run_for(10min);
  expect_working(1);
  replace_keeper();
  universe.run_for(20min);
  expect_working(1);
  EXPECT_EQ(told("it has lost its task"), 1);
  ASSERT_EQ(inbox().messages.size(), 1U);
  EXPECT_EQ(inbox().messages.front().kind, "task-lost");
  EXPECT_TRUE(inbox().messages.front().text.contains("is held by other"));
  EXPECT_EQ(signals("release"), 1);
  universe.run_for(2h);
  EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::done);
  EXPECT_EQ(task().assignee, "other");
  EXPECT_EQ(task().status, kInProgress);
  EXPECT_EQ(task().last_heartbeat, std::nullopt);
}

TEST_F(TaskWorkTest, that_its_agent_closed_is_not_lost) {
  work_for(20min);
  kept.start_keeper();
  universe.run_for(1min);
  tasks.close("t1", "worker-s1");
  universe.run_for(10min);
  EXPECT_EQ(told("it has lost its task"), 0);
  EXPECT_EQ(signals("close"), 1);
  universe.run_for(20min);
  EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::done);
  EXPECT_EQ(tasks.history(), (std::vector<std::string>{"in_progress 1", "closed 1"}));
}

// --- Who goes on --------------------------------------------------------------------------------

TEST_F(TaskWorkTest, stays_claimed_over_a_shutdown_of_the_machine) {
  work_for(10min);
  kept.start_keeper();
  universe.run_for(1min);
  universe.order(kept.keeper, Order::terminate);
  universe.run_for(1min);
  EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::stopped);
  EXPECT_EQ(task().assignee, "worker-s1");
  EXPECT_EQ(task().status, kInProgress);
  EXPECT_EQ(told("given back"), 0);
}

TEST_F(TaskWorkTest, that_was_taken_from_one_that_was_gone_is_claimed_again_when_it_goes_on) {
  work_for(10min);
  kept.start_keeper();
  universe.run_for(1min);
  universe.reboot();
  tasks.take_back("t1");
  kept.start_keeper();
  universe.run_for(1min);
  EXPECT_EQ(task().assignee, "worker-s1");
  EXPECT_EQ(told("it has lost its task"), 0);
  universe.run_for(20min);
  EXPECT_EQ(tasks.history(),
            (std::vector<std::string>{"in_progress 1", "open 2", "in_progress 3", "closed 3"}));
}

/// It was taken while the machine was down, and when its agent goes on nobody can be asked.
class TaskTakenUnseenTest : public TaskWorkTest {
 protected:
  void goes_on_unseen(Duration work) {
    work_for(work);
    kept.start_keeper();
    universe.run_for(1min);
    universe.reboot();
    tasks.take_back("t1");
    database().unreadable = true;
    kept.start_keeper();
    universe.run_for(90s);
    EXPECT_EQ(kept.heartbeat().life, 2U);
    database().unreadable = false;
    EXPECT_EQ(task().status, kOpen);
    database().unreadable = true;
  }
  SimDatabaseFile& database() {
    return *universe.databases.at(std::string(Kept::kHome) + "/" + kDatabaseFile);
  }
  const std::vector<std::string> claimed_again{"in_progress 1", "open 2", "in_progress 3",
                                               "closed 3"};
};

TEST_F(TaskTakenUnseenTest, is_claimed_again_as_soon_as_somebody_can_be_asked) {
  goes_on_unseen(20min);
  database().unreadable = false;
  universe.run_for(10min);
  EXPECT_EQ(task().assignee, "worker-s1");
  EXPECT_EQ(told("it has lost its task"), 0);
  EXPECT_EQ(told("its task 't1' can be reached again"), 1);
  universe.run_for(20min);
  EXPECT_EQ(tasks.history(), claimed_again);
}

TEST_F(TaskTakenUnseenTest, is_claimed_again_also_by_the_keeper_that_comes_after) {
  goes_on_unseen(20min);
  universe.kill(kept.keeper);
  kept.start_keeper();
  universe.run_for(30s);
  database().unreadable = false;
  universe.run_for(10min);
  EXPECT_EQ(task().assignee, "worker-s1");
  EXPECT_EQ(told("it has lost its task"), 0);
}

TEST_F(TaskTakenUnseenTest, is_closed_by_one_that_was_done_before_it_could_ask) {
  goes_on_unseen(2min);
  universe.run_for(40s);
  database().unreadable = false;
  universe.run_for(5min);
  EXPECT_EQ(kept.heartbeat().outcome, WorkOutcome::done);
  EXPECT_EQ(tasks.history(), claimed_again);
}

TEST_F(TaskTakenUnseenTest, is_lost_to_who_took_it_meanwhile) {
  goes_on_unseen(1h);
  database().unreadable = false;
  tasks.claim("t1", "other");
  universe.run_for(10min);
  EXPECT_EQ(told("it has lost its task"), 1);
  EXPECT_EQ(task().assignee, "other");
}

TEST_F(TaskTakenUnseenTest, is_not_claimed_again_when_a_person_frees_it_later) {
  goes_on_unseen(1h);
  database().unreadable = false;
  universe.run_for(10min);
  ASSERT_EQ(task().assignee, "worker-s1");
  tasks.take_back("t1");
  universe.run_for(20min);
  EXPECT_EQ(task().status, kOpen);
  EXPECT_EQ(told("it has lost its task"), 1);
}

TEST_F(TaskWorkTest, that_another_took_from_one_that_was_gone_is_lost) {
  work_for(1h);
  kept.start_keeper();
  universe.run_for(1min);
  universe.reboot();
  tasks.take_back("t1");
  tasks.claim("t1", "other");
  kept.start_keeper();
  universe.run_for(10min);
  EXPECT_EQ(told("it has lost its task"), 1);
  EXPECT_EQ(task().assignee, "other");
}

TEST_F(TaskWorkTest, stays_claimed_over_a_power_cut) {
  work_for(10min);
  kept.start_keeper();
  universe.run_for(1min);
  universe.reboot();
  kept.start_keeper();
  universe.run_for(1min);
  EXPECT_EQ(kept.workers().size(), 1U);
  EXPECT_EQ(kept.heartbeat().life, 2U);
  universe.run_for(20min);
  EXPECT_EQ(tasks.history(), (std::vector<std::string>{"in_progress 1", "closed 1"}));
}

/// Claimed a second time, which a power cut takes from what its keeper knew.
class TaskClaimedTwiceTest : public TaskWorkTest {
 protected:
  /// It says itself how it ended: its exit nobody sees.
  void claim_twice(Duration work, const std::string& outcome) {
    behave([work, outcome](SimSelf& self) {
      print_now_and_then(self);
      self.after(work, [outcome](SimSelf& me) {
        me.write(*me.variable("TEND_INFRA") + "/outcome.json", R"({"outcome":")" + outcome + "\"}");
        me.exit(0);
      });
    });
    kept.start_keeper();
    universe.run_for(1min);
    const std::string first = kept.text_of("task.json");
    universe.reboot();
    tasks.take_back("t1");
    kept.start_keeper();
    universe.run_for(1min);
    ASSERT_EQ(task().fence, 3);
    universe.kill(kept.keeper);
    universe.disk.write(std::string(Kept::kFolder) + "/task.json", first);
    kept.agent.restart = RestartPolicy::never;
    kept.start_keeper();
  }
  [[nodiscard]] std::vector<std::string> history(const std::string& end) {
    return {"in_progress 1", "open 2", "in_progress 3", end};
  }
};

TEST_F(TaskClaimedTwiceTest, is_beaten_by_the_claim_that_it_forgot) {
  claim_twice(3h, "done");
  EXPECT_GE(beats(1h).size(), 10U);
  EXPECT_EQ(told("it has lost its task"), 0);
  universe.run_for(3h);
  EXPECT_EQ(tasks.history(), history("closed 3"));
}

TEST_F(TaskClaimedTwiceTest, is_closed_by_the_claim_that_it_forgot) {
  claim_twice(2min, "done");
  universe.run_for(10min);
  EXPECT_EQ(tasks.history(), history("closed 3"));
}

TEST_F(TaskClaimedTwiceTest, is_given_back_by_the_claim_that_it_forgot) {
  claim_twice(2min, "withdrawn");
  universe.run_for(10min);
  EXPECT_EQ(tasks.history(), history("open 3"));
  EXPECT_EQ(task().assignee, std::nullopt);
}

TEST_F(TaskWorkTest, is_given_back_by_one_that_is_held_and_claimed_again_when_it_may_go_on) {
  bool fails = true;
  behave([&fails](SimSelf& self) {
    print_now_and_then(self);
    if (fails) self.exit_after(2s, 1);
  });
  kept.start_keeper();
  universe.run_for(20min);
  ASSERT_EQ(word(kept.heartbeat().verdict), "looping");
  EXPECT_EQ(task().status, kOpen);
  EXPECT_EQ(task().assignee, std::nullopt);
  EXPECT_EQ(told("'t1' is given back"), 1);
  replace_keeper();
  universe.run_for(10min);
  EXPECT_EQ(task().status, kOpen) << "a new keeper of one that is held claims nothing";
  fails = false;
  unpause();
  universe.run_for(2min);
  EXPECT_EQ(kept.workers().size(), 1U);
  EXPECT_EQ(task().assignee, "worker-s1");
  EXPECT_EQ(task().fence, 2);
}

TEST_F(TaskWorkTest, S24_work_that_ends_whoever_takes_it_up_is_given_back_and_not_tried_on_and_on) {
  behave([](SimSelf& self) {
    print_now_and_then(self);
    self.exit_after(20s, 139);
  });
  kept.start_keeper();
  universe.run_for(20min);
  ASSERT_EQ(word(kept.heartbeat().verdict), "looping");
  const int lives = starts();
  EXPECT_LE(lives, 3);
  EXPECT_EQ(task().status, kOpen) << "somebody else may do better";
  EXPECT_EQ(told("'t1' is given back"), 1);
  EXPECT_EQ(kept.count("action", "escalate"), 1);
  tasks.claim("t1", "BlueLake");
  replace_keeper();
  universe.run_for(24h);
  EXPECT_LE(starts() - lives, 48) << "one try in half an hour";
  EXPECT_EQ(task().assignee, "BlueLake") << "and none takes it from who has it now";
  kept.check_replay();
}

}  // namespace
}  // namespace tend
