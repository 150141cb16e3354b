// The promises of the judge, one sentence each. The incident traces test the rules in breadth;
// these name the ones that people rely on.
#include "judge/judge.h"

#include <gtest/gtest.h>

#include "judge/account.h"
#include "judge/testing.h"

namespace tend {
namespace {

using namespace testing;
using Times = std::vector<Duration>;

Story busy_agent() {
  Story story;
  story.at(0s, {spawn(), running()}).at(1s, {turn_start()}).at(2s, {progress()});
  return story;
}

TEST(Judge, knows_nothing_before_anything_was_seen) {
  Story story;
  story.at(100s, {running()});
  EXPECT_EQ(story.verdict_at(900s), Verdict::unknown);
  EXPECT_TRUE(story.actions().empty());
}

TEST(Judge, turns_suspect_at_the_limit_and_not_before) {
  Story story = busy_agent();
  EXPECT_EQ(story.verdict_at(722s - 1ms), Verdict::working);
  EXPECT_EQ(story.verdict_at(722s), Verdict::suspect);
  EXPECT_EQ(story.times_of(Action::ping), Times{722s});
  EXPECT_EQ(story.times_of(Action::warn), Times{722s});
}

TEST(Judge, preserves_before_it_kills_and_kills_once) {
  Story story = busy_agent();
  story.until(5000s);
  EXPECT_EQ(story.verdict(), Verdict::stalled);
  EXPECT_EQ(story.times_of(Action::preserve), Times{842s});
  EXPECT_EQ(story.times_of(Action::kill), Times{842s});
  EXPECT_EQ(story.times_of(Action::escalate), Times{902s});
}

TEST(Judge, does_not_kill_on_one_plane) {
  Story story;
  story.at(0s, {spawn(), process(ProcessState::unknown)}).at(2s, {progress()}).until(5000s);
  EXPECT_EQ(story.verdict(), Verdict::stalled);
  EXPECT_FALSE(story.took(Action::kill));
  EXPECT_EQ(story.times_of(Action::escalate), Times{842s});
}

TEST(Judge, leaves_an_open_tool_alone_up_to_its_own_limit) {
  Story story = busy_agent();
  story.at(10s, {tool_open("a", "Bash", 3600s)});
  EXPECT_EQ(story.verdict_at(3670s - 1ms), Verdict::working);
  EXPECT_EQ(story.verdict_at(3670s), Verdict::suspect);
}

TEST(Judge, waits_for_a_person_without_limit_and_says_so_once) {
  Story story = busy_agent();
  story.at(10s, {ask("q")}).until(10s + 90min);
  EXPECT_EQ(story.verdict(), Verdict::waiting);
  EXPECT_EQ(story.times_of(Action::notify), Times{10s});
  EXPECT_EQ(story.times_of(Action::warn), Times{3610s});
  EXPECT_FALSE(story.took(Action::ping));
}

TEST(Judge, resumes_what_died_at_once_and_calls_a_person_if_nothing_came_up) {
  Story story = busy_agent();
  story.at(100s, {gone(1)}).until(1000s);
  EXPECT_EQ(story.verdict(), Verdict::dead);
  EXPECT_EQ(story.times_of(Action::resume), Times{100s});
  EXPECT_EQ(story.times_of(Action::escalate), Times{190s});
}

Signal failed_turn(Cause cause) {
  Signal end = turn_end();
  end.cause = cause;
  end.cause_word = word(cause);
  return end;
}

TEST(Judge, holds_one_that_gave_up_just_before_the_time_of_its_own_next_try) {
  Story story;
  story.at(0s, {spawn()}).at(2s, {progress()}).at(10s, {retry(Cause::overload, 44s)});
  story.at(43s, {failed_turn(Cause::overload)}).at(45s, {gone(1)}).until(640s);
  EXPECT_EQ(story.verdict(), Verdict::waiting);
  EXPECT_FALSE(story.took(Action::resume));
  story.until(650s);
  EXPECT_EQ(story.times_of(Action::resume), Times{643s});
  EXPECT_EQ(account(story.judge(), Instant{650s}).spent, 0U);
}

TEST(Judge, keeps_the_end_that_the_provider_named_when_the_turn_ends) {
  for (const Duration named : {310s, 40s}) {
    Story story;
    story.at(0s, {spawn()}).at(2s, {progress()}).at(10s, {retry(Cause::rate, named)});
    story.at(11s, {failed_turn(Cause::rate)}).at(12s, {gone(1)}).until(700s);
    EXPECT_EQ(story.times_of(Action::resume), Times{named});
  }
}

TEST(Judge, calls_an_exit_after_our_own_kill_no_clean_end) {
  Story story = busy_agent();
  story.until(850s).at(851s, {turn_end(), gone(0)});
  EXPECT_EQ(story.verdict(), Verdict::dead);
  EXPECT_TRUE(story.took(Action::resume));
}

TEST(Judge, calls_an_end_that_nobody_saw_no_clean_end_while_a_background_task_ran) {
  Story waiting;
  waiting.at(0s, {spawn()}).at(2s, {progress()}).at(3s, {turn_end(1)}).at(9s, {gone()});
  EXPECT_EQ(waiting.verdict(), Verdict::dead);
  Story idle;
  idle.at(0s, {spawn()}).at(2s, {progress()}).at(3s, {turn_end()}).at(9s, {gone()});
  EXPECT_EQ(idle.verdict(), Verdict::finished);
}

TEST(Judge, holds_an_agent_that_died_the_same_way_three_times) {
  Story story;
  for (const Duration start : {0s, 100s, 200s}) {
    story.at(start, {spawn()}).at(start + 2s, {progress()}).at(start + 30s, {gone(1)});
  }
  EXPECT_EQ(story.verdict_at(300s), Verdict::looping);
  EXPECT_EQ(story.times_of(Action::resume), (Times{30s, 130s}));
  EXPECT_EQ(story.times_of(Action::hold), Times{230s});
  story.until(230s + 30min);
  EXPECT_EQ(story.verdict(), Verdict::dead);
  EXPECT_EQ(story.times_of(Action::resume).size(), 3U);
}

TEST(Judge, neither_lifts_a_loops_hold_nor_refills_a_budget_for_a_stop) {
  Story story;
  for (const Duration start : {0s, 100s, 200s}) {
    story.at(start, {spawn()}).at(start + 2s, {progress()}).at(start + 30s, {gone(1)});
  }
  const std::uint32_t spent = account(story.judge(), Instant{230s}).spent;
  story.at(240s, {want(Want::stop)});
  EXPECT_EQ(story.verdict(), Verdict::finished);
  story.at(300s, {want(Want::run)});
  EXPECT_EQ(story.verdict(), Verdict::looping);
  EXPECT_EQ(story.times_of(Action::hold), Times{230s}) << "it is the same hold";
  story.at(400s, {want(Want::stop)}).at(230s + 31min, {want(Want::run)}).until(230s + 32min);
  EXPECT_EQ(story.times_of(Action::resume).size(), 3U);
  EXPECT_EQ(account(story.judge(), Instant{230s + 32min}).spent, spent) << "that one is free";
}

TEST(Judge, spends_nothing_for_one_that_may_have_gone_in_a_hold_while_nobody_could_see_it) {
  for (const bool is_seen : {false, true}) {
    Story story;
    story.at(0s, {spawn(), running()}).at(2s, {progress()}).at(10s, {retry(Cause::overload, 44s)});
    story.at(43s, {failed_turn(Cause::overload)});
    story.at(44s, {process(is_seen ? ProcessState::running : ProcessState::unknown)});
    story.at(700s, {gone(1)}).until(720s);
    EXPECT_TRUE(story.took(Action::resume));
    EXPECT_EQ(account(story.judge(), Instant{720s}).spent, is_seen ? 1U : 0U);
  }
}

TEST(Judge, takes_the_work_of_a_held_agent_away) {
  Story story;
  story.at(0s, {spawn(), claim("w1")});
  story.at(1s, {gone(1)}).at(2s, {spawn()}).at(3s, {gone(1)}).at(4s, {spawn()});
  EXPECT_FALSE(story.took(Action::reassign));
  story.at(5s, {gone(1)});
  EXPECT_EQ(story.verdict(), Verdict::looping);
  EXPECT_EQ(story.times_of(Action::reassign), Times{5s});
}

TEST(Judge, forgives_its_own_sleep) {
  Story story = busy_agent();
  story.at(10'000s, {lasting(Kind::suspend, 9'900s)});
  EXPECT_EQ(story.verdict(), Verdict::unknown);
  EXPECT_EQ(story.verdict_at(10'060s), Verdict::working);
  EXPECT_FALSE(story.took(Action::kill));
}

TEST(Judge, does_nothing_while_the_operator_pauses) {
  Story story = busy_agent();
  story.at(10s, {want(Want::pause)}).until(10'000s);
  EXPECT_EQ(story.verdict(), Verdict::waiting);
  EXPECT_TRUE(story.actions().empty());
  story.at(10'000s, {want(Want::run)});
  EXPECT_EQ(story.verdict(), Verdict::working);
}

TEST(Judge, waits_for_a_child_that_works_and_not_for_one_that_ended) {
  Story story = busy_agent();
  story.at(5s, {child("c", Verdict::working), turn_end()});
  EXPECT_EQ(story.verdict_at(800s), Verdict::waiting);
  story.at(850s, {child("c", Verdict::finished)});
  EXPECT_EQ(story.verdict_at(910s), Verdict::suspect);
  story.until(2000s);
  EXPECT_FALSE(story.took(Action::kill));
  EXPECT_EQ(story.times_of(Action::resume), Times{1030s});
}

TEST(Judge, never_kills_a_program_that_promised_nothing) {
  Story story("plain");
  story.at(0s, {spawn(), running()}).until(100'000s);
  EXPECT_EQ(story.verdict(), Verdict::starting);
  EXPECT_EQ(story.actions(), (std::vector<std::pair<Duration, Action>>{{3600s, Action::notify}}));
}

TEST(Judge, takes_the_rungs_that_a_person_configured) {
  Policy policy = *built_in_policy("agent");
  policy.ladder = {{.after = 300s, .missed = 0, .action = Action::notify}};
  Story story(policy);
  story.at(0s, {spawn(), running()}).at(2s, {progress()}).until(600s);
  EXPECT_EQ(story.times_of(Action::notify), Times{302s});
  EXPECT_EQ(story.verdict(), Verdict::working);
}

TEST(Judge, restarts_without_a_second_look_where_that_is_configured) {
  Policy policy = *built_in_policy("agent");
  policy.direct = true;
  Story story(policy);
  story.at(0s, {spawn(), running()}).at(2s, {progress()}).until(722s);
  EXPECT_EQ(story.verdict(), Verdict::stalled);
  EXPECT_EQ(story.times_of(Action::kill), Times{722s});
  story.at(730s, {gone()});
  EXPECT_EQ(story.times_of(Action::restart), Times{730s});
}

TEST(Judge, gives_its_reasons_in_words) {
  Story story = busy_agent();
  story.at(10s, {tool_open("a", "Bash", 600s)});
  EXPECT_EQ(story.because(), std::vector<std::string>{"last real sign 0 s ago (limit 720 s)"});
  story.until(670s);
  ASSERT_FALSE(story.because().empty());
  EXPECT_EQ(story.because().front(), "silent 660 s in phase tool (limit 660 s)");
}

TEST(Judge, treats_a_falling_time_as_the_last_one) {
  Story story = busy_agent();
  const Outcome outcome = story.judge().step({}, Instant{1s});
  EXPECT_TRUE(outcome.decisions.empty());
  EXPECT_EQ(story.verdict(), Verdict::working);
}

}  // namespace
}  // namespace tend
