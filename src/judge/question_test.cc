// An agent that is asked whether it still answers: `ping`, `ack`, and what follows from silence.
#include <gtest/gtest.h>

#include "judge/testing.h"

namespace tend {
namespace {

using namespace tend::testing;
using Times = std::vector<Duration>;

Signal ping(std::string_view id) {
  Signal s = signal(Kind::ping);
  s.id = id;
  return s;
}
Signal ack(std::string_view id) {
  Signal s = signal(Kind::ack);
  s.id = id;
  return s;
}

Policy asked_policy(std::string_view name = "agent") {
  Policy policy = *built_in_policy(name);
  policy.answer = 900s;
  return policy;
}

/// Its turn is over at 10 s, and it has nothing to do.
Story idle_agent(const Policy& policy) {
  Story story(policy);
  story.at(0s, {spawn(), running()}).at(2s, {progress()}).at(10s, {turn_end()});
  return story;
}

Asking asking_of(Story& story) { return story.judge().asking(Instant{}); }

TEST(Question, an_idle_agent_that_nobody_asks_may_be_silent_for_ever) {
  Story story = idle_agent(asked_policy());
  story.until(100'000s);
  EXPECT_EQ(story.verdict(), Verdict::idle);
  EXPECT_FALSE(story.took(Action::kill));
}

TEST(Question, one_that_was_asked_has_to_answer_by_its_deadline) {
  Story story = idle_agent(asked_policy());
  story.at(310s, {ping("q1")}).until(1209s);
  EXPECT_EQ(story.verdict(), Verdict::idle);
  story.until(1210s);
  EXPECT_EQ(story.verdict(), Verdict::suspect);
  story.until(1330s);
  EXPECT_EQ(story.verdict(), Verdict::stalled);
  EXPECT_EQ(story.times_of(Action::kill), Times{1330s});
}

TEST(Question, messages_that_wait_put_the_answer_off_for_nobody) {
  Policy policy = asked_policy();
  policy.answer = 60s;
  Story story = idle_agent(policy);
  Signal inbox = signal(Kind::inbox);
  inbox.count = 2;
  story.at(310s, {inbox, ping("q1")}).until(370s);
  EXPECT_EQ(story.verdict(), Verdict::suspect);
}

TEST(Question, an_answer_ends_it) {
  Story story = idle_agent(asked_policy());
  story.at(310s, {ping("q1")}).at(320s, {ack("q1")}).until(100'000s);
  EXPECT_EQ(story.verdict(), Verdict::idle);
}

TEST(Question, whatever_comes_after_it_proves_as_much) {
  Story story = idle_agent(asked_policy());
  story.at(310s, {ping("q1")}).at(800s, {turn_start()}).at(810s, {turn_end()}).until(100'000s);
  EXPECT_EQ(story.verdict(), Verdict::idle);
}

TEST(Question, what_could_not_be_asked_need_not_be_answered) {
  Story story = idle_agent(asked_policy());
  Signal failed = signal(Kind::ping_failed);
  failed.id = "q1";
  story.at(310s, {ping("q1"), failed}).until(100'000s);
  EXPECT_EQ(story.verdict(), Verdict::idle);
}

TEST(Question, silence_alone_is_one_plane_and_kills_nobody) {
  Story story(asked_policy("plain"));
  Signal unknown = process(ProcessState::unknown);
  story.at(0s, {spawn(), unknown}).at(5s, {beat(BeatBy::agent)}).at(300s, {ping("q1")});
  story.until(10'000s);
  EXPECT_EQ(story.verdict(), Verdict::stalled);
  EXPECT_FALSE(story.took(Action::kill));
  EXPECT_TRUE(story.took(Action::escalate));
}

TEST(Question, a_program_that_promised_nothing_has_promised_to_answer) {
  Story story(asked_policy("plain"));
  story.at(0s, {spawn(), running()}).at(300s, {ping("q1")}).until(1320s);
  EXPECT_EQ(story.times_of(Action::kill), Times{1320s});
}

TEST(Question, direct_takes_no_second_look_once_two_planes_agree) {
  Policy policy = asked_policy();
  policy.direct = true;
  Story story = idle_agent(policy);
  story.at(310s, {ping("q1")}).until(1210s);
  EXPECT_EQ(story.times_of(Action::kill), Times{1210s});
  story.at(1215s, {gone()});
  EXPECT_EQ(story.times_of(Action::restart), Times{1215s});
}

TEST(Question, one_that_is_there_to_be_spoken_to_has_not_ended_because_it_rested) {
  Story story = idle_agent(asked_policy());
  story.at(400s, {gone()});
  EXPECT_EQ(story.verdict(), Verdict::dead) << "a power cut, perhaps";
  Story ended = idle_agent(asked_policy());
  ended.at(400s, {gone(0)});
  EXPECT_EQ(ended.verdict(), Verdict::finished);
}

TEST(Question, the_answer_of_an_older_life_is_void) {
  Story story = idle_agent(asked_policy());
  story.at(310s, {ping("q1")}).at(400s, {gone(1)}).at(402s, {spawn(), running()});
  story.at(410s, {progress()}).at(420s, {ping("q2")}).at(430s, {ack("q1")});
  EXPECT_TRUE(asking_of(story).open.has_value());
  EXPECT_TRUE(story.judge().degraded());
}

TEST(Question, who_was_down_is_well_once_it_has_answered) {
  Story story = idle_agent(asked_policy());
  story.at(400s, {gone(1)});
  EXPECT_EQ(story.times_of(Action::degrade), Times{400s});
  story.at(402s, {spawn(), running()}).at(403s, {ping("q1")}).at(410s, {progress()});
  EXPECT_FALSE(story.took(Action::undegrade));
  story.at(415s, {ack("q1")});
  EXPECT_EQ(story.times_of(Action::undegrade), Times{415s});
  EXPECT_FALSE(story.judge().degraded());
}

TEST(Question, who_cannot_be_asked_is_well_once_it_works) {
  Story story = idle_agent(*built_in_policy("agent"));
  story.at(400s, {gone(1)}).at(402s, {spawn(), running()}).at(410s, {progress()});
  EXPECT_EQ(story.times_of(Action::undegrade), Times{410s});
}

TEST(Question, refused_credentials_are_an_outage_too) {
  Story story = idle_agent(*built_in_policy("agent"));
  story.at(20s, {turn_start()}).at(30s, {retry(Cause::auth)});
  EXPECT_EQ(story.verdict(), Verdict::waiting);
  EXPECT_EQ(story.times_of(Action::degrade), Times{30s});
  story.at(500s, {progress()});
  EXPECT_EQ(story.times_of(Action::undegrade), Times{500s});
}

TEST(Question, nobody_is_asked_who_could_not_answer) {
  Story story = idle_agent(asked_policy());
  EXPECT_TRUE(asking_of(story).possible);
  story.at(20s, {turn_start(), tool_open("a", "Bash")});
  EXPECT_FALSE(asking_of(story).possible) << "a tool is open";
  story.at(30s, {tool_close("a"), ask("p")});
  EXPECT_FALSE(asking_of(story).possible) << "a person is asked";
  story.at(40s, {progress(), retry(Cause::rate, 600s)});
  EXPECT_FALSE(asking_of(story).possible) << "the provider holds";
  story.at(50s, {progress()});
  EXPECT_TRUE(asking_of(story).possible);
}

TEST(Question, whose_turn_ended_in_a_limit_can_be_spoken_to_once_that_is_over) {
  Story story = idle_agent(asked_policy());
  story.at(20s, {turn_start(), retry(Cause::rate, 600s)});
  Signal refused = turn_end();
  refused.cause = Cause::rate;
  refused.cause_word = word(Cause::rate);
  story.at(21s, {refused});
  story.at(599s, {});
  EXPECT_FALSE(asking_of(story).possible) << "the provider holds";
  story.at(600s, {});
  EXPECT_TRUE(asking_of(story).possible) << "nothing goes on by itself";
  EXPECT_EQ(story.verdict(), Verdict::waiting);
}

TEST(Question, who_waits_for_a_limit_within_its_turn_goes_on_by_itself) {
  Story story = idle_agent(asked_policy());
  story.at(20s, {turn_start(), retry(Cause::rate, 600s)});
  story.at(600s, {});
  EXPECT_FALSE(asking_of(story).possible);
}

TEST(Question, its_age_grows_while_nothing_is_judged) {
  Story story = idle_agent(asked_policy());
  story.at(310s, {ping("q1")});
  const Asking asking = story.judge().asking(Instant{400s});
  EXPECT_EQ(asking.open_for, 90s);
  EXPECT_EQ(asking.silent, 390s);
}

TEST(Question, a_snapshot_remembers_what_is_open) {
  Story story = idle_agent(asked_policy());
  story.at(310s, {ping("q1")});
  const auto restored = Judge::restore(asked_policy(), story.judge().snapshot());
  ASSERT_TRUE(restored.has_value()) << restored.error().text;
  EXPECT_EQ(restored->asking(Instant{310s}).open, Name("q1"));
  EXPECT_EQ(restored->next(), story.judge().next());
}

}  // namespace
}  // namespace tend
