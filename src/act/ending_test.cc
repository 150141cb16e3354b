// Ends processes of a script, on a clock that the test moves.
#include "act/ending.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "act/scripted_machine.h"

namespace tend {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using Signals = std::vector<std::pair<std::int64_t, Kill>>;

const std::string kFolder = "/home/x/sessions/a";

class EndingTest : public testing::Test {
 protected:
  void begin(EndOrder order) {
    ending_ = std::make_unique<Ending>(os_.machine(), std::move(order), [this](const Ended& ended) {
      ASSERT_FALSE(ended_.has_value()) << "done was called twice";
      ended_ = ended;
    });
  }
  void begin() { begin({.who = who()}); }
  static Belonging who() { return {.mark = kFolder, .root = ScriptedMachine::id_of(10)}; }

  /// How it ended, if it did within that time.
  std::string how_within(Duration time) {
    os_.pass(time);
    if (!ended_) return "not yet";
    EXPECT_EQ(ended_->all_gone, ended_->left.empty());
    return ended_->how;
  }
  std::size_t heard(std::int64_t pid, Kill kill) {
    return static_cast<std::size_t>(
        std::ranges::count(os_.signals, std::pair<std::int64_t, Kill>{pid, kill}));
  }

  ScriptedMachine os_;
  std::unique_ptr<Ending> ending_;
  std::optional<Ended> ended_;
};

TEST_F(EndingTest, interrupts_a_simple_process_and_notices_its_end_at_once) {
  os_.add(10, kFolder);
  begin();
  EXPECT_FALSE(ended_.has_value()) << "done was called from the constructor";
  EXPECT_EQ(how_within(milliseconds{1}), "ended by SIGINT");
  EXPECT_EQ(os_.signals, (Signals{{10, Kill::interrupt}}));
}

TEST_F(EndingTest, notices_a_late_end_when_it_happens) {
  os_.add(10, kFolder).dies_of[Kill::interrupt] = milliseconds{1711};
  begin();
  EXPECT_EQ(how_within(milliseconds{1710}), "not yet");
  EXPECT_EQ(how_within(milliseconds{1}), "ended by SIGINT");
}

TEST_F(EndingTest, says_when_nothing_was_left) {
  begin();
  EXPECT_EQ(how_within(milliseconds{1}), "nothing was left");
  EXPECT_TRUE(ended_->all_gone);
  EXPECT_TRUE(os_.signals.empty());
}

TEST_F(EndingTest, does_not_count_zombies) {
  os_.add(10, kFolder).zombie = true;
  begin();
  EXPECT_EQ(how_within(milliseconds{1}), "nothing was left");
}

TEST_F(EndingTest, terminates_what_the_first_process_left_behind) {
  os_.add(10, kFolder);
  os_.add(11, kFolder).parent = 10;
  begin();
  EXPECT_EQ(how_within(milliseconds{100}), "ended by SIGTERM");
  EXPECT_EQ(os_.signals, (Signals{{10, Kill::interrupt}, {11, Kill::terminate}}));
}

TEST_F(EndingTest, interrupts_the_whole_job_of_the_first_process) {
  ScriptedProcess& shell = os_.add(10, kFolder);
  shell.dies_of.erase(
      Kill::interrupt);  // it waits for the tool, and goes when that was interrupted
  ScriptedProcess& tool = os_.add(11, kFolder);
  tool.parent = 10;
  tool.job = 10;
  tool.on_hear = [&](Kill) { os_.remove(ScriptedMachine::id_of(10)); };
  os_.add(12, "").job = 10;  // nobody's, whatever its job
  ScriptedProcess& apart = os_.add(13, kFolder);
  apart.parent = 10;
  begin();
  EXPECT_EQ(how_within(milliseconds{100}), "ended by SIGTERM");
  EXPECT_EQ(
      os_.signals,
      (Signals{
          {10, Kill::interrupt}, {10, Kill::cont}, {11, Kill::interrupt}, {13, Kill::terminate}}));
}

TEST_F(EndingTest, does_not_interrupt_when_the_first_process_is_gone) {
  os_.add(11, kFolder);
  begin();
  EXPECT_EQ(how_within(milliseconds{100}), "ended by SIGTERM");
  EXPECT_EQ(os_.signals, (Signals{{11, Kill::terminate}}));
}

TEST_F(EndingTest, climbs_to_kill_and_each_rung_has_its_time) {
  ScriptedProcess& stubborn = os_.add(10, kFolder);
  stubborn.dies_of.erase(Kill::interrupt);
  stubborn.dies_of.erase(Kill::terminate);
  begin();
  os_.pass(milliseconds{4999});
  EXPECT_EQ(heard(10, Kill::terminate), 0U);
  os_.pass(milliseconds{1});
  EXPECT_EQ(heard(10, Kill::terminate), 1U);
  os_.pass(milliseconds{9999});
  EXPECT_EQ(heard(10, Kill::kill), 0U);
  EXPECT_EQ(how_within(milliseconds{1}), "ended by SIGKILL");
  EXPECT_EQ(heard(10, Kill::interrupt), 1U);
  EXPECT_EQ(heard(10, Kill::terminate), 1U);
}

TEST_F(EndingTest, kills_at_once_when_told_so) {
  os_.add(10, kFolder);
  os_.add(11, kFolder);
  begin({.who = who(), .now = true});
  EXPECT_EQ(how_within(milliseconds{1}), "ended by SIGKILL");
  EXPECT_EQ(os_.signals, (Signals{{10, Kill::kill}, {11, Kill::kill}}));
}

TEST_F(EndingTest, leaves_out_a_stage_of_no_length) {
  os_.add(10, kFolder);
  begin({.who = who(), .interrupt_for = Duration::zero()});
  EXPECT_EQ(how_within(milliseconds{1}), "ended by SIGTERM");
  os_.add(10, kFolder);
  ended_.reset();
  begin({.who = who(), .interrupt_for = Duration::zero(), .terminate_for = Duration::zero()});
  EXPECT_EQ(how_within(milliseconds{1}), "ended by SIGKILL");
}

TEST_F(EndingTest, wakes_stopped_ones_so_that_they_can_react) {
  os_.add(10, kFolder).stopped = true;
  begin();
  EXPECT_EQ(how_within(milliseconds{1}), "ended by SIGINT");
  EXPECT_EQ(os_.signals, (Signals{{10, Kill::interrupt}, {10, Kill::cont}}));
}

TEST_F(EndingTest, catches_what_is_forked_during_the_kill) {
  std::int64_t next = 20;
  const std::function<void(Kill)> fork = [&](Kill) {
    if (next < 30) os_.add(next++, kFolder).on_hear = fork;
  };
  os_.add(10, kFolder).on_hear = fork;
  begin({.who = who(), .now = true});
  EXPECT_EQ(how_within(seconds{10}), "ended by SIGKILL");
  EXPECT_EQ(next, 30);
}

TEST_F(EndingTest, spares_the_helpers_of_one_that_cleans_up) {
  ScriptedProcess& first = os_.add(10, kFolder);
  first.dies_of[Kill::terminate] = seconds{3};
  first.on_hear = [&](Kill kill) {
    if (kill == Kill::terminate) os_.add(11, kFolder).parent = 10;
  };
  begin({.who = who(), .interrupt_for = Duration::zero()});
  os_.pass(milliseconds{2999});
  EXPECT_EQ(heard(11, Kill::terminate), 0U);
  EXPECT_EQ(how_within(milliseconds{50}), "ended by SIGTERM");
  EXPECT_EQ(heard(11, Kill::terminate), 1U);
}

TEST_F(EndingTest, ends_unmarked_ones_also_after_their_parent_is_gone) {
  os_.add(10, kFolder);
  ScriptedProcess& unmarked = os_.add(11, "");
  unmarked.mark = std::nullopt;
  unmarked.parent = 10;
  ScriptedProcess& below = os_.add(12, "");
  below.mark = std::nullopt;
  below.parent = 11;
  ScriptedProcess& child = os_.add(13, kFolder + "/child");
  child.parent = 11;
  begin();
  EXPECT_EQ(how_within(milliseconds{100}), "ended by SIGTERM");
  EXPECT_FALSE(os_.has(11));
  EXPECT_FALSE(os_.has(12));
  EXPECT_TRUE(os_.has(13));
}

TEST_F(EndingTest, signals_no_other_agent_and_nobody_unmarked) {
  os_.add(10, kFolder);
  os_.add(12, kFolder + "/child").parent = 10;
  os_.add(13, "").mark = std::nullopt;
  begin({.who = who(), .now = true});
  EXPECT_EQ(how_within(milliseconds{1}), "ended by SIGKILL");
  EXPECT_TRUE(os_.has(12));
  EXPECT_TRUE(os_.has(13));
  EXPECT_EQ(os_.signals, (Signals{{10, Kill::kill}}));
}

TEST_F(EndingTest, does_not_touch_a_reused_number) {
  os_.add(10, "").id.start_ticks += 1;
  begin();
  EXPECT_EQ(how_within(milliseconds{1}), "nothing was left");
  EXPECT_TRUE(os_.signals.empty());
}

TEST_F(EndingTest, names_what_is_left_after_all_it_could_do) {
  os_.add(10, kFolder).dies_of.clear();
  os_.add(11, kFolder).refuses = true;
  begin({.who = who(), .now = true});
  EXPECT_EQ(how_within(milliseconds{29'000}), "not yet");
  EXPECT_EQ(how_within(seconds{2}),
            "2 processes left after SIGKILL: 10, 11 (Operation not permitted)");
  EXPECT_EQ(ended_->left.size(), 2U);
  const std::size_t sent = os_.signals.size();
  os_.pass(minutes{5});
  EXPECT_EQ(os_.signals.size(), sent);
}

TEST_F(EndingTest, names_only_some_of_many) {
  for (std::int64_t pid = 10; pid < 30; ++pid) os_.add(pid, kFolder).refuses = true;
  begin({.who = who(), .now = true});
  const std::string how = how_within(minutes{1});
  EXPECT_TRUE(how.starts_with("20 processes left after SIGKILL: ")) << how;
  EXPECT_TRUE(how.ends_with(", and 12 more")) << how;
}

TEST_F(EndingTest, looks_less_and_less_often) {
  os_.add(10, kFolder).dies_of.clear();
  begin({.who = who(), .now = true});
  os_.pass(seconds{29});
  EXPECT_GE(os_.scans, 58U);
  EXPECT_LE(os_.scans, 64U);
}

TEST_F(EndingTest, does_not_count_the_time_asleep) {
  os_.add(10, kFolder).dies_of.erase(Kill::interrupt);
  begin();
  os_.pass(seconds{1});
  os_.sleep(minutes{60});
  os_.pass(seconds{3});
  EXPECT_EQ(heard(10, Kill::terminate), 0U);
  EXPECT_EQ(how_within(seconds{2}), "ended by SIGTERM");
}

TEST_F(EndingTest, sends_nothing_while_it_may_not_act_and_still_notices_an_end) {
  ScriptedProcess& process = os_.add(10, kFolder);
  process.dies_of.erase(Kill::interrupt);
  bool may_act = true;
  begin({.who = who(), .may_act = [&] { return may_act; }});
  os_.pass(seconds{1});
  may_act = false;
  os_.pass(minutes{10});
  EXPECT_EQ(os_.signals, (Signals{{10, Kill::interrupt}, {10, Kill::cont}}));
  process.zombie = true;
  EXPECT_EQ(how_within(seconds{1}), "ended by SIGINT");
}

TEST_F(EndingTest, takes_nobody_for_gone_whom_it_cannot_see) {
  os_.add(10, kFolder);
  os_.blind = "no /proc here";
  begin();
  EXPECT_EQ(how_within(seconds{29}), "not yet");
  EXPECT_TRUE(os_.signals.empty());
  os_.pass(seconds{2});
  ASSERT_TRUE(ended_.has_value());
  EXPECT_FALSE(ended_->all_gone);
  EXPECT_EQ(ended_->how, "cannot tell what is left: no /proc here");
}

TEST_F(EndingTest, begins_nothing_when_it_sees_again_after_too_long) {
  os_.add(10, kFolder);
  os_.blind = "no /proc here";
  begin();
  os_.pass(seconds{1});
  os_.stall(minutes{7});
  os_.blind.clear();
  os_.pass(seconds{1});
  ASSERT_TRUE(ended_.has_value());
  EXPECT_EQ(ended_->how, "nothing could be looked at for too long");
  EXPECT_TRUE(ended_->unseen);
  EXPECT_TRUE(os_.signals.empty());
}

TEST_F(EndingTest, goes_on_when_it_sees_again) {
  os_.add(10, kFolder);
  os_.blind = "too many open files";
  begin();
  os_.pass(seconds{20});
  os_.blind.clear();
  EXPECT_EQ(how_within(seconds{1}), "ended by SIGINT");
}

TEST_F(EndingTest, sends_nothing_more_once_it_is_destroyed) {
  os_.add(10, kFolder).dies_of.clear();
  begin();
  os_.pass(seconds{1});
  ending_.reset();
  os_.pass(minutes{2});
  EXPECT_EQ(os_.signals, (Signals{{10, Kill::interrupt}, {10, Kill::cont}}));
  EXPECT_FALSE(ended_.has_value());
}

TEST_F(EndingTest, may_be_destroyed_by_the_one_it_tells) {
  os_.add(10, kFolder);
  bool told = false;
  ending_ = std::make_unique<Ending>(os_.machine(), EndOrder{.who = who()}, [&](const Ended&) {
    ending_.reset();
    told = true;
  });
  os_.pass(seconds{1});
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace tend
