// The whole command on traces in memory: what it prints, what it complains of, how it exits.
#include "app/replay_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "judge/judge.h"
#include "os/sim/sim_world.h"
#include "store/policy_json.h"

namespace tend {
namespace {

const std::string kSilent = R"({"t":0,"is":"spawn","pid":100}
{"t":1,"is":"turn-start"}
{"t":2,"is":"progress"}
{"t":1000,"is":"process","state":"running"}
)";

std::string expecting(const std::string& clause) {
  return R"({"trace":1,"id":"X1","about":"a silence","expect":[)" + clause + "]}\n" + kSilent;
}

class ReplayCommandTest : public testing::Test {
 protected:
  int run(std::vector<std::string> paths) {
    arguments.positionals = std::move(paths);
    World world = sim.world();
    return replay_command(arguments, world);
  }
  void option(const std::string& name, const std::string& value) {
    arguments.options[name].push_back(value);
  }
  std::string last_line() {
    const std::string& text = sim.out.text;
    if (text.empty()) return "";
    const std::size_t before = text.rfind('\n', text.size() - 2);
    return text.substr(before == text.npos ? 0 : before + 1);
  }
  bool printed(std::string_view text) { return sim.out.text.find(text) != std::string::npos; }

  SimWorld sim;
  Arguments arguments;
};

TEST_F(ReplayCommandTest, judges_standard_input_by_policy_agent) {
  sim.files.contents["-"] = kSilent;
  option("json", "");
  EXPECT_EQ(run({"-"}), kExitYes);
  EXPECT_TRUE(printed(R"({"t":722,"verdict":"suspect","phase":"model")"));
  EXPECT_TRUE(printed(R"({"t":722,"action":"ping",)"));
  EXPECT_EQ(last_line(), "{\"id\":\"-\",\"expect\":0,\"held\":0,\"failed\":[]}\n");
  EXPECT_EQ(sim.err.text, "");
}

TEST_F(ReplayCommandTest, exits_with_one_when_an_expectation_fails) {
  sim.files.contents["a"] = expecting(R"({"from":3,"to":700,"verdict":["working"]})");
  sim.files.contents["b"] = expecting(R"({"from":3,"to":800,"verdict":["working"]})");
  option("json", "");
  EXPECT_EQ(run({"a"}), kExitYes);
  EXPECT_EQ(run({"b"}), kExitNo);
  EXPECT_EQ(last_line(), R"({"id":"X1","expect":1,"held":0,"failed":[{"clause":{"from":3,"to":800,)"
                         R"("verdict":["working"]},"saw":"suspect at 722 s"}]})"
                         "\n");
}

TEST_F(ReplayCommandTest, runs_on_to_the_last_time_that_is_expected) {
  sim.files.contents["a"] = expecting(R"({"after":0,"by":1100,"action":["escalate"]})");
  sim.files.contents["a"] += R"({"t":1001,"is":"spawn"})"
                             "\n"
                             R"({"t":1002,"is":"turn-start"})"
                             "\n";
  option("json", "");
  run({"a"});
  EXPECT_FALSE(printed("\"t\":1722"));
  sim.files.contents["a"] = expecting(R"({"from":0,"to":2000,"never":["adopt"]})");
  sim.files.contents["a"] += R"({"t":1001,"is":"spawn"})"
                             "\n"
                             R"({"t":1002,"is":"turn-start"})"
                             "\n";
  EXPECT_EQ(run({"a"}), kExitYes);
  EXPECT_TRUE(printed("{\"t\":1722,\"verdict\":\"suspect\""));
}

TEST_F(ReplayCommandTest, says_in_one_line_why_a_trace_cannot_be_read) {
  sim.files.contents["empty"] = "";
  sim.files.contents["newer"] = "{\"trace\":2}\n";
  sim.files.broken["folder"] = "Is a directory";
  EXPECT_EQ(run({"none"}), kExitUsage);
  EXPECT_EQ(run({"empty"}), kExitUsage);
  EXPECT_EQ(run({"folder"}), kExitUsage);
  EXPECT_EQ(run({"newer"}), kExitUsage);
  EXPECT_EQ(sim.err.text,
            "tend: cannot open none: No such file or directory\n"
            "tend: empty is empty\n"
            "tend: cannot read folder: Is a directory\n"
            "tend: newer:1: the header is of trace version '2', this tend reads version 1\n");
  EXPECT_EQ(sim.out.text, "");
}

TEST_F(ReplayCommandTest, runs_the_other_traces_when_one_cannot_be_read) {
  sim.files.contents["dir/a.jsonl"] = kSilent;
  sim.files.contents["b"] = expecting(R"({"from":3,"to":800,"verdict":["working"]})");
  option("json", "");
  EXPECT_EQ(run({"dir/a.jsonl", "dir/none.jsonl", "b"}), kExitUsage);
  EXPECT_TRUE(printed("{\"id\":\"a\",\"expect\":0,"));
  EXPECT_EQ(last_line(), "{\"traces\":3,\"held\":1,\"failed\":[\"none\",\"X1\"]}\n");
}

TEST_F(ReplayCommandTest, names_bad_lines_with_file_and_number) {
  sim.files.contents["a"] = kSilent + "broken\n";
  EXPECT_EQ(run({"a"}), kExitYes);
  EXPECT_EQ(sim.err.text, "a:5: it is no JSON object; skipped\n");
}

TEST_F(ReplayCommandTest, does_not_name_bad_lines_for_ever) {
  sim.files.contents["a"] = kSilent;
  for (int i = 0; i < 1500; ++i) sim.files.contents["a"] += "broken\n";
  EXPECT_EQ(run({"a"}), kExitYes);
  EXPECT_EQ(std::ranges::count(sim.err.text, '\n'), 1001);
  EXPECT_TRUE(sim.err.text.ends_with("a: 500 more lines like these\n"));
}

TEST_F(ReplayCommandTest, judges_by_the_policy_and_limits_asked_for) {
  sim.files.contents["a"] = kSilent;
  option("limit", "model=10m");
  option("policy", "worker");
  EXPECT_EQ(run({"a"}), kExitYes);
  EXPECT_TRUE(printed("(policy worker)"));
  EXPECT_TRUE(printed("  10m 02s  suspect"));
}

TEST_F(ReplayCommandTest, refuses_options_that_make_no_sense) {
  sim.files.contents["a"] = kSilent;
  option("limit", "moon=1");
  EXPECT_EQ(run({"a"}), kExitUsage);
  arguments.options.clear();
  option("policy", "no-such-policy");
  EXPECT_EQ(run({"a"}), kExitUsage);
  EXPECT_EQ(std::ranges::count(sim.err.text, '\n'), 2);
  EXPECT_EQ(sim.out.text, "");
}

TEST_F(ReplayCommandTest, shows_where_two_policies_differ) {
  sim.files.contents["a"] = kSilent;
  option("limit", "model=10m");
  option("diff", "agent");
  EXPECT_EQ(run({"a"}), kExitNo);
  EXPECT_EQ(sim.out.text.substr(0, sim.out.text.find("12m 02s")),
            "a  (policy agent against agent (other))\n"
            "  10m 02s  agent          suspect     silent 600 s in phase model (limit 600 s)\n"
            "           agent (other)  working     since 1 s\n"
            "           agent          -> warn     silent 600 s in phase model (limit 600 s)\n"
            "           agent          -> ping     silent 600 s in phase model (limit 600 s)\n"
            "  ");
}

TEST_F(ReplayCommandTest, tells_differences_as_json) {
  sim.files.contents["a"] = kSilent;
  option("json", "");
  option("diff", "worker");
  option("limit", "model=10m");
  EXPECT_EQ(run({"a"}), kExitNo);
  EXPECT_TRUE(printed(R"({"t":602,"policy":"agent","verdict":"suspect","phase":"model",)"));
  EXPECT_TRUE(
      printed(R"({"t":602,"policy":"worker","verdict":"working","phase":"model","since":1})"));
  EXPECT_TRUE(last_line().starts_with(R"({"id":"a","policies":["agent","worker"],"spans":)"));
}

TEST_F(ReplayCommandTest, says_when_two_policies_judge_alike) {
  sim.files.contents["a"] = kSilent;
  option("diff", "agent");
  EXPECT_EQ(run({"a", "a"}), kExitYes);
  EXPECT_TRUE(printed("both judge it alike"));
  EXPECT_EQ(last_line(), "2 traces: both policies judge all alike\n");
}

/// A journal that was begun 100 s into a silence, and goes on to the decision that ended it.
std::string journal(const Policy& policy, const std::string& judge) {
  return R"({"trace":1,"id":"worker-1","policy":")" + policy.name +
         R"(","limits":{},"boot":"b","shift_ms":0,"wall":1767225600,"at_ms":101000,"offset":512,)" +
         R"("said":0,"actions":1,"life":1,"policy_full":)" + format_policy_json(policy) +
         R"(,"judge":)" + judge +
         "}\n"
         R"({"t":300,"is":"process","state":"running","offset":512})"
         "\n"
         R"({"t":721,"verdict":"suspect","phase":"model","because":["silent 720 s"]})"
         "\n"
         R"({"t":721,"action":"warn","why":"silent 720 s","n":1})"
         "\n"
         R"({"t":721.1,"did":"warn","n":1,"result":"done"})"
         "\n"
         R"({"t":721.2,"note":"all is well"})"
         "\n";
}

std::string silent_judge(const Policy& policy) {
  Judge judge(policy);
  Signal signal;
  signal.is = Kind::spawn;
  judge.step({&signal, 1}, Instant{});
  signal.is = Kind::turn_start;
  judge.step({&signal, 1}, Instant{std::chrono::seconds{1}});
  judge.step({}, Instant{std::chrono::seconds{101}});
  return judge.snapshot();
}

TEST_F(ReplayCommandTest, goes_on_with_the_judge_of_a_journal) {
  Policy policy = built_in_policy("agent").value();
  policy.name = "one that stands in no configuration";
  sim.files.contents["journal.jsonl"] = journal(policy, silent_judge(policy));
  EXPECT_EQ(run({"journal.jsonl"}), kExitYes);
  EXPECT_EQ(sim.err.text, "");
  EXPECT_EQ(sim.out.text,
            "worker-1  (policy one that stands in no configuration)\n"
            "   1m 41s  working   model       when the journal was begun\n"
            "  12m 01s  suspect   model       silent 720 s in phase model (limit 720 s);\n"
            "                                 process running\n"
            "           -> warn, ping         silent 720 s in phase model (limit 720 s)\n"
            "  no expectations to check\n");
}

TEST_F(ReplayCommandTest, judges_a_journal_anew_under_other_limits) {
  const Policy policy = built_in_policy("agent").value();
  sim.files.contents["a"] = journal(policy, silent_judge(policy));
  option("json", "");
  option("limit", "model=50s");
  EXPECT_EQ(run({"a"}), kExitYes);
  EXPECT_TRUE(sim.out.text.starts_with(R"({"t":101,"verdict":"suspect","phase":"model")"))
      << sim.out.text;
  EXPECT_FALSE(printed("\"t\":721"));
}

TEST_F(ReplayCommandTest, compares_two_policies_from_the_snapshot_on) {
  const Policy policy = built_in_policy("agent").value();
  sim.files.contents["a"] = journal(policy, silent_judge(policy));
  option("diff", "agent");
  EXPECT_EQ(run({"a"}), kExitYes);
  EXPECT_TRUE(printed("both judge it alike"));
  option("limit", "model=10m");
  EXPECT_EQ(run({"a"}), kExitNo);
  EXPECT_TRUE(printed("  10m 01s  agent          suspect"));
  EXPECT_TRUE(printed("           agent (other)  working     since 1m 41s"));
}

TEST_F(ReplayCommandTest, names_the_journal_whose_judge_or_policy_is_damaged) {
  const Policy policy = built_in_policy("agent").value();
  sim.files.contents["a"] = journal(policy, R"({"snapshot":1,"judge":{"clocks":7}})");
  std::string other = journal(policy, silent_judge(policy));
  other.replace(other.find("\"promise\""), 9, "\"premise\"");
  sim.files.contents["b"] = other;
  EXPECT_EQ(run({"a"}), kExitUsage);
  EXPECT_TRUE(sim.err.text.starts_with("tend: a: the judge in its header cannot be restored: "))
      << sim.err.text;
  sim.err.text.clear();
  EXPECT_EQ(run({"b"}), kExitUsage);
  EXPECT_TRUE(sim.err.text.starts_with("tend: b: the policy in its header: ")) << sim.err.text;
  EXPECT_EQ(sim.out.text, "");
}

}  // namespace
}  // namespace tend
