// The JSON of a replay, byte by byte.
#include "app/replay_json.h"

#include <gtest/gtest.h>

#include "os/sim/sim_world.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

Decision tool_verdict(std::string_view tool) {
  Decision decision;
  decision.verdict = Verdict::working;
  decision.phase = Phase::tool;
  decision.reasons[0].because = Because::tool_open;
  decision.reasons[0].name = Name(tool);
  decision.reasons[0].age = 10s;
  decision.reasons[0].limit = 660s;
  decision.reason_count = 1;
  return decision;
}

TEST(ReplayJson, prints_a_verdict_as_the_contract_says) {
  EXPECT_EQ(
      decision_as_json(Instant{12s}, tool_verdict("Bash")),
      R"({"t":12,"verdict":"working","phase":"tool","because":["tool Bash open 10 s of 660 s"]})"
      "\n");
}

TEST(ReplayJson, prints_an_action_and_its_task) {
  Decision decision = tool_verdict("Bash");
  decision.kind = Decision::Kind::action;
  decision.action = Action::ping;
  EXPECT_EQ(decision_as_json(Instant{732s}, decision),
            R"({"t":732,"action":"ping","why":"tool Bash open 10 s of 660 s"})"
            "\n");
  decision.action = Action::reassign;
  decision.task = Name("t1");
  EXPECT_EQ(decision_as_json(Instant{1500ms}, decision),
            R"({"t":1.5,"action":"reassign","task":"t1","why":"tool Bash open 10 s of 660 s"})"
            "\n");
}

TEST(ReplayJson, is_valid_even_where_a_name_was_cut_inside_a_character) {
  const std::string name = std::string(Name::kShown - 1, 'x') + "ä";
  const std::string line = decision_as_json(Instant{}, tool_verdict(name));
  EXPECT_NE(line.find("\xEF\xBF\xBD"), std::string::npos);
  EXPECT_EQ(line.find('\xC3'), std::string::npos);
}

TEST(ReplayJson, closes_a_trace_with_what_failed) {
  SimWorld sim;
  ReplayJson view(sim.out);
  view.end({"I004", 3, {}});
  view.end({"x", 2, {{R"({"from":3,"to":700,"verdict":["dead"]})", "working at 3 s"}}});
  view.sum({90, {"I006", "I144"}});
  EXPECT_EQ(sim.out.text, R"({"id":"I004","expect":3,"held":3,"failed":[]})"
                          "\n"
                          R"({"id":"x","expect":2,"held":1,"failed":[{"clause":)"
                          R"({"from":3,"to":700,"verdict":["dead"]},"saw":"working at 3 s"}]})"
                          "\n"
                          R"({"traces":90,"held":88,"failed":["I006","I144"]})"
                          "\n");
}

}  // namespace
}  // namespace tend
