// The timeline, character by character.
#include "app/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "os/sim/sim_world.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

Reason silent(Duration age) {
  Reason reason;
  reason.because = Because::silent_past;
  reason.phase = Phase::model;
  reason.age = age;
  reason.limit = 720s;
  return reason;
}

Decision verdict(Verdict verdict, Reason reason) {
  Decision decision;
  decision.verdict = verdict;
  decision.phase = Phase::model;
  decision.reasons[0] = reason;
  decision.reason_count = 1;
  return decision;
}

Decision action(Action action, Reason reason) {
  Decision decision = verdict(Verdict::suspect, reason);
  decision.kind = Decision::Kind::action;
  decision.action = action;
  return decision;
}

class TimelineTest : public testing::Test {
 protected:
  SimWorld sim;
  Timeline timeline{sim.out, sim.environment};
};

TEST_F(TimelineTest, opens_with_id_and_about) {
  timeline.begin({"I004",
                  "a long test run that says nothing at all between its start and its result",
                  "agent"});
  EXPECT_EQ(sim.out.text,
            "I004  a long test run that says nothing at all between its start and its result\n"
            "      (policy agent)\n");
}

TEST_F(TimelineTest, has_a_line_for_a_verdict_and_one_for_actions_of_one_reason) {
  timeline.decided(Instant{725s}, verdict(Verdict::suspect, silent(720s)));
  timeline.decided(Instant{725s}, action(Action::warn, silent(720s)));
  timeline.decided(Instant{725s}, action(Action::ping, silent(720s)));
  timeline.decided(Instant{845s}, action(Action::kill, silent(840s)));
  timeline.end({"x", 0, {}});
  EXPECT_EQ(sim.out.text,
            "  12m 05s  suspect   model       silent 720 s in phase model (limit 720 s)\n"
            "           -> warn, ping         silent 720 s in phase model (limit 720 s)\n"
            "  14m 05s  -> kill               silent 840 s in phase model (limit 720 s)\n"
            "  no expectations to check\n");
}

TEST_F(TimelineTest, fits_into_eighty_columns) {
  Reason reason;
  reason.because = Because::tool_open;
  reason.name = Name("a_tool_with_a_name_that_is_about_as_long_as_it_gets");
  reason.age = 900s;
  reason.limit = 900s;
  Decision decision = verdict(Verdict::suspect, silent(900s));
  decision.reasons[1] = reason;
  decision.reason_count = 2;
  timeline.decided(Instant{905s}, decision);
  std::size_t column = 0;
  for (const char c : sim.out.text) {
    column = c == '\n' ? 0 : column + 1;
    EXPECT_LE(column, 80U);
  }
  EXPECT_GT(std::ranges::count(sim.out.text, '\n'), 1);
}

TEST_F(TimelineTest, shows_no_control_characters_of_a_trace) {
  Reason reason;
  reason.because = Because::tool_open;
  reason.name = Name("\x1b[2Jevil\n");
  timeline.begin({"i\x1b", "a\nb", "agent"});
  timeline.decided(Instant{1s}, verdict(Verdict::working, reason));
  EXPECT_EQ(sim.out.text.find('\x1b'), std::string::npos);
  EXPECT_EQ(std::ranges::count(sim.out.text, '\n'), 2);
}

TEST_F(TimelineTest, closes_with_what_held) {
  timeline.end({"x", 3, {}});
  timeline.end({"x", 2, {{R"({"from":3,"to":700,"verdict":["dead"]})", "working at 3 s"}}});
  EXPECT_EQ(sim.out.text,
            "  ok: 3 expectations held\n"
            "  failed: 1 of 2 expectations held\n"
            "    expected {\"from\": 3, \"to\": 700, \"verdict\": [\"dead\"]}\n"
            "         saw working at 3 s\n");
}

TEST_F(TimelineTest, sums_up_several_traces) {
  timeline.sum({3, {}});
  timeline.sum({90, {"I006", "I144"}});
  EXPECT_EQ(sim.out.text, "\n3 traces: all held\n\n90 traces: 88 held, 2 failed: I006, I144\n");
}

TEST_F(TimelineTest, paints_verdicts_on_a_terminal) {
  sim.out.terminal = true;
  Timeline painted{sim.out, sim.environment};
  painted.decided(Instant{1s}, verdict(Verdict::dead, silent(1s)));
  EXPECT_NE(sim.out.text.find("\x1b[31mdead\x1b[0m"), std::string::npos);
}

}  // namespace
}  // namespace tend
