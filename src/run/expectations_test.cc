// Each form of clause, at both of its ends.
#include "run/expectations.h"

#include <gtest/gtest.h>

#include <string>

namespace tend {
namespace {

using namespace std::chrono_literals;

Expectations expect(const std::string& clauses) {
  return Expectations(
      parse_trace_header(R"({"trace":1,"expect":[)" + clauses + "]}").value().expect);
}

void verdict(Expectations& expectations, Duration at, Verdict verdict) {
  Decision decision;
  decision.kind = Decision::Kind::verdict;
  decision.verdict = verdict;
  expectations.take(Instant{at}, decision);
}

void action(Expectations& expectations, Duration at, Action action) {
  Decision decision;
  decision.kind = Decision::Kind::action;
  decision.action = action;
  expectations.take(Instant{at}, decision);
}

/// What was seen instead, or nothing if all held.
std::string saw(Expectations& expectations) {
  std::string text;
  for (const FailedClause& failed : expectations.finish()) text += failed.saw;
  return text;
}

/// Starting at 0 s, working at 2 s, suspect at 10 s.
std::string saw_of_three(const std::string& clause) {
  Expectations expectations = expect(clause);
  verdict(expectations, 0s, Verdict::starting);
  verdict(expectations, 2s, Verdict::working);
  verdict(expectations, 10s, Verdict::suspect);
  return saw(expectations);
}

TEST(Expectations, of_a_verdict_throughout_include_both_ends) {
  EXPECT_EQ(saw_of_three(R"({"from":2,"to":9.999,"verdict":["working"]})"), "");
  EXPECT_EQ(saw_of_three(R"({"from":1.999,"to":5,"verdict":["working"]})"), "starting at 1.999 s");
  EXPECT_EQ(saw_of_three(R"({"from":2,"to":10,"verdict":["working"]})"), "suspect at 10 s");
  EXPECT_EQ(saw_of_three(R"({"from":10,"to":900,"verdict":["suspect"]})"), "");
  EXPECT_EQ(saw_of_three(R"({"from":3,"to":3,"verdict":["working"]})"), "");
}

TEST(Expectations, of_a_verdict_at_some_moment_include_both_ends) {
  EXPECT_EQ(saw_of_three(R"({"after":10,"by":20,"verdict":["suspect"]})"), "");
  EXPECT_EQ(saw_of_three(R"({"after":5,"by":10,"verdict":["suspect"]})"), "");
  EXPECT_EQ(saw_of_three(R"({"after":1,"by":9.999,"verdict":["suspect","dead"]})"),
            "only starting and working between 1 s and 9.999 s");
}

TEST(Expectations, know_no_verdict_before_the_first) {
  Expectations expectations = expect(R"({"from":0,"to":4,"verdict":["unknown"]})");
  verdict(expectations, 5s, Verdict::starting);
  EXPECT_EQ(saw(expectations), "");
  Expectations nothing = expect(R"({"from":0,"to":4,"verdict":["working"]})");
  EXPECT_EQ(saw(nothing), "unknown at 0 s");
}

TEST(Expectations, take_the_last_verdict_of_a_moment) {
  Expectations expectations = expect(R"({"from":0,"to":9,"verdict":["working"]})");
  verdict(expectations, 0s, Verdict::dead);
  verdict(expectations, 0s, Verdict::working);
  EXPECT_EQ(saw(expectations), "");
}

TEST(Expectations, of_an_action_include_both_ends) {
  const auto killed_at_5 = [](const std::string& clause) {
    Expectations expectations = expect(clause);
    action(expectations, 5s, Action::kill);
    return saw(expectations);
  };
  EXPECT_EQ(killed_at_5(R"({"after":5,"by":6,"action":["kill"]})"), "");
  EXPECT_EQ(killed_at_5(R"({"after":4,"by":5,"action":["kill","warn"]})"), "");
  EXPECT_EQ(killed_at_5(R"({"after":5.001,"by":6,"action":["kill"]})"),
            "no kill between 5.001 s and 6 s");
  EXPECT_EQ(killed_at_5(R"({"after":4,"by":5,"action":["resume","restart"]})"),
            "no resume or restart between 4 s and 5 s");
  EXPECT_EQ(killed_at_5(R"({"from":5,"to":6,"never":["kill"]})"), "kill at 5 s");
  EXPECT_EQ(killed_at_5(R"({"from":0,"to":4.999,"never":["kill"]})"), "");
}

TEST(Expectations, count_actions_together) {
  Expectations expectations = expect(R"({"from":0,"to":9,"at-most":2,"action":["warn","ping"]},
                                        {"from":0,"to":9,"at-most":3,"action":["warn","ping"]})");
  action(expectations, 1s, Action::warn);
  action(expectations, 1s, Action::ping);
  action(expectations, 2s, Action::kill);
  action(expectations, 3s, Action::warn);
  EXPECT_EQ(saw(expectations), "3 of them between 0 s and 9 s, one too many (warn) at 3 s");
}

TEST(Expectations, that_nobody_understands_fail) {
  Expectations expectations = expect(R"({"from":0,"to":9,"verdict":["lazy"]})");
  const auto failed = expectations.finish();
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0].clause, R"({"from":0,"to":9,"verdict":["lazy"]})");
  EXPECT_EQ(failed[0].saw, "clause not understood");
}

TEST(Expectations, know_the_latest_time_they_name) {
  EXPECT_EQ(expect("").last(), Instant{});
  EXPECT_EQ(
      expect(R"({"from":0,"to":9,"never":["kill"]},{"after":0,"by":7,"action":["kill"]})").last(),
      Instant{9s});
}

}  // namespace
}  // namespace tend
