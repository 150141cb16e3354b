// An account says what the judge would say, and asking for it leaves the judge as it was.
#include "judge/account.h"

#include <gtest/gtest.h>

#include "judge/testing.h"

namespace tend {
namespace {

using namespace tend::testing;

std::vector<std::string> words_of(const std::vector<Reason>& reasons) {
  std::vector<std::string> words;
  for (const Reason& reason : reasons) words.push_back(describe(reason));
  return words;
}

const Foreseen* foreseen(const Account& account, Verdict verdict) {
  for (const Foreseen& one : account.next) {
    if (one.decision.kind == Decision::Kind::verdict && one.decision.verdict == verdict) {
      return &one;
    }
  }
  return nullptr;
}

const Foreseen* foreseen(const Account& account, Action action) {
  for (const Foreseen& one : account.next) {
    if (one.decision.kind == Decision::Kind::action && one.decision.action == action) return &one;
  }
  return nullptr;
}

TEST(Account, of_a_judge_that_saw_nothing_says_nothing) {
  const Judge judge(*built_in_policy("agent"));
  const Account result = account(judge, Instant{5s});
  EXPECT_EQ(result.verdict, Verdict::unknown);
  EXPECT_TRUE(result.next.empty());
}

TEST(Account, changes_nothing) {
  Story story;
  story.at(1s, {spawn(), running()}).at(2s, {turn_start()}).at(9s, {tool_open("1", "Bash")});
  const std::string before = story.judge().snapshot();
  (void)account(story.judge(), Instant{3000s});
  EXPECT_EQ(story.judge().snapshot(), before);
}

TEST(Account, measures_ages_at_the_time_it_is_asked_for) {
  Story story;
  story.at(1s, {spawn(), running()}).at(10s, {turn_start()});
  const Account result = account(story.judge(), Instant{110s});
  EXPECT_EQ(result.verdict, Verdict::working);
  EXPECT_EQ(result.phase, Phase::model);
  EXPECT_TRUE(result.real.seen);
  EXPECT_EQ(result.real.age, 100s);
  EXPECT_EQ(result.real.limit, story.judge().policy().limits.model);
  EXPECT_EQ(result.suspect_in, story.judge().policy().limits.model - 100s);
  EXPECT_EQ(result.process, ProcessState::running);
  EXPECT_EQ(words_of(result.because).front(), "last real sign 100 s ago (limit 720 s)");
}

TEST(Account, foresees_what_the_judge_then_does) {
  Story story;
  story.at(1s, {spawn(), running()}).at(10s, {turn_start()});
  const Account result = account(story.judge(), Instant{100s});
  const Foreseen* suspect = foreseen(result, Verdict::suspect);
  const Foreseen* stalled = foreseen(result, Verdict::stalled);
  const Foreseen* kill = foreseen(result, Action::kill);
  ASSERT_TRUE(suspect && stalled && kill);

  ASSERT_EQ(story.verdict_at(100s + suspect->in - 1ms), Verdict::working);
  ASSERT_EQ(story.verdict_at(100s + suspect->in), Verdict::suspect);
  ASSERT_EQ(story.verdict_at(100s + stalled->in - 1ms), Verdict::suspect);
  ASSERT_EQ(story.verdict_at(100s + stalled->in), Verdict::stalled);
  EXPECT_EQ(story.times_of(Action::kill), std::vector<Duration>{100s + kill->in});
}

TEST(Account, foresees_that_a_kill_is_followed_by_a_new_life) {
  Story story;
  story.at(1s, {spawn(), running()}).at(10s, {turn_start()});
  const Account result = account(story.judge(), Instant{100s});
  const Foreseen* kill = foreseen(result, Action::kill);
  const Foreseen* resume = foreseen(result, Action::resume);
  ASSERT_TRUE(kill && resume);
  EXPECT_FALSE(kill->follows_kill);
  EXPECT_TRUE(resume->follows_kill);
  EXPECT_EQ(&result.next.back(), resume);
}

TEST(Account, foresees_no_kill_where_nothing_was_promised) {
  Story story("plain");
  story.at(1s, {spawn(), running()}).at(10s, {progress()});
  const Account result = account(story.judge(), Instant{100s});
  EXPECT_EQ(foreseen(result, Action::kill), nullptr);
}

TEST(Account, foresees_the_end_of_a_hold) {
  Story story;
  for (int life = 0; life < 3; ++life) {
    const Duration begin = life * 100s;
    story.at(begin + 1s, {spawn(), running()})
        .at(begin + 2s, {turn_start()})
        .at(begin + 50s, {gone(1)});
  }
  ASSERT_EQ(story.verdict(), Verdict::looping);
  const Account result = account(story.judge(), Instant{300s});
  const Foreseen* resume = foreseen(result, Action::resume);
  ASSERT_NE(resume, nullptr);
  EXPECT_EQ(resume->in, 30min - 50s);
  EXPECT_FALSE(resume->follows_kill);
}

TEST(Account, lists_open_calls_with_age_and_limit) {
  Story story;
  story.at(1s, {spawn(), running()})
      .at(10s, {turn_start()})
      .at(20s, {tool_open("1", "Bash", 300s)})
      .at(30s, {tool_open("2", "Read")});
  const Account result = account(story.judge(), Instant{60s});
  ASSERT_EQ(result.tools.size(), 2U);
  EXPECT_EQ(result.tools[0].tool.shown(), "Bash");
  EXPECT_EQ(result.tools[0].age, 40s);
  EXPECT_EQ(result.tools[0].limit, 300s + 60s + 10s);  // from the last sign, which was later
  EXPECT_EQ(result.tools[1].limit, story.judge().policy().limits.tool);
}

TEST(Account, counts_the_planes_that_agree_only_past_the_limit) {
  Story story;
  story.at(1s, {spawn(), running()}).at(10s, {turn_start()});
  EXPECT_EQ(account(story.judge(), Instant{100s}).planes.agreeing(), 0U);
  ASSERT_EQ(story.verdict_at(740s), Verdict::suspect);
  const Account result = account(story.judge(), Instant{740s});
  EXPECT_TRUE(result.planes.process);
  EXPECT_TRUE(result.planes.stream);
  EXPECT_EQ(result.planes.agreeing(), 2U);
  EXPECT_EQ(result.planes_needed, 2U);
}

TEST(Account, says_who_is_waited_for) {
  Story story;
  story.at(1s, {spawn(), running()}).at(10s, {turn_start()}).at(20s, {ask("q1")});
  const Account result = account(story.judge(), Instant{80s});
  EXPECT_EQ(result.verdict, Verdict::waiting);
  ASSERT_EQ(result.questions.size(), 1U);
  EXPECT_EQ(result.person_age, 60s);
  EXPECT_TRUE(result.excused);
  EXPECT_EQ(result.suspect_in, std::nullopt);
}

TEST(Account, names_the_children_and_the_provider) {
  Story story;
  story.at(1s, {spawn(), running()})
      .at(10s, {turn_start(), child("lint", Verdict::working)})
      .at(20s, {retry(Cause::rate, 600s)});
  const Account result = account(story.judge(), Instant{70s});
  ASSERT_EQ(result.children.size(), 1U);
  EXPECT_EQ(result.children[0].name.shown(), "lint");
  EXPECT_EQ(result.children[0].told, 60s);
  ASSERT_TRUE(result.hold);
  EXPECT_EQ(result.hold->cause, Cause::rate);
  EXPECT_EQ(result.hold->age, 50s);
  EXPECT_EQ(result.hold->to_go, 530s);
}

TEST(Account, tells_both_budgets) {
  Story story;
  story.at(1s, {spawn(), running()}).at(2s, {turn_start()}).at(50s, {gone(1)});
  const Account result = account(story.judge(), Instant{51s});
  EXPECT_EQ(result.verdict, Verdict::dead);
  EXPECT_EQ(result.spent, 1U);
  EXPECT_EQ(result.allowed, 3U);
  EXPECT_EQ(result.spent_ever, 1U);
  EXPECT_EQ(result.allowed_ever, 9U);
}

TEST(Account, puts_what_follows_into_words) {
  Story story;
  story.at(1s, {spawn(), running()}).at(10s, {turn_start()});
  Account result = account(story.judge(), Instant{100s});
  std::vector<std::string> words;
  for (std::span<const Foreseen> left = result.next; !left.empty();) {
    const auto together = first_moment(left);
    words.push_back(describe(together));
    left = left.subspan(together.size());
  }
  EXPECT_EQ(words, (std::vector<std::string>{
                       "suspect: a warning is written, it is asked for a sign",
                       "stalled: work is saved, it is ended",
                       "dead: work is saved, it is resumed",
                   }));
  EXPECT_EQ(describe(first_moment({})), "");
  for (Foreseen& one : result.next) one.but = "it is only watched";
  EXPECT_EQ(describe(std::span(result.next).subspan(3, 4)),
            "stalled: it is ended (not done: it is only watched)");
}

}  // namespace
}  // namespace tend
