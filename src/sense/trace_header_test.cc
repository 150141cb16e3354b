// Headers: what they set, what they expect, what is passed over.
#include "sense/trace_header.h"

#include <gtest/gtest.h>

#include <string>

namespace tend {
namespace {

using namespace std::chrono_literals;
using Form = Clause::Form;

TraceHeader read(const std::string& line) {
  auto header = parse_trace_header(line);
  EXPECT_TRUE(header) << line;
  return header.value_or(TraceHeader{});
}

Clause clause(const std::string& text) {
  const TraceHeader header = read(R"({"trace":1,"expect":[)" + text + "]}");
  EXPECT_EQ(header.expect.size(), 1U);
  return header.expect.empty() ? Clause{} : header.expect.front();
}

TEST(TraceHeader, names_the_trace_and_its_policy) {
  const TraceHeader header =
      read(R"({"trace":1,"id":"I004","about":"a run","policy":"worker","x":[]})");
  EXPECT_EQ(header.id, "I004");
  EXPECT_EQ(header.about, "a run");
  EXPECT_EQ(header.policy, "worker");
  EXPECT_TRUE(header.oddities.empty());
}

TEST(TraceHeader, of_another_version_is_refused) {
  for (const char* version : {"2", "0", "\"1\"", "1.5", "null", "{}"}) {
    const auto header = parse_trace_header(std::string(R"({"trace":)") + version + "}");
    ASSERT_FALSE(header) << version;
    EXPECT_NE(header.error().text.find("this tend reads version 1"), std::string::npos);
  }
}

TEST(TraceHeader, sets_limits_in_seconds) {
  const TraceHeader header =
      read(R"({"trace":1,"limits":{"tool":900,"confirm":0.5,"beats":[120,300]}})");
  ASSERT_EQ(header.limits.size(), 2U);
  EXPECT_EQ(header.limits[0], (std::pair<std::string, Duration>{"tool", 900s}));
  EXPECT_EQ(header.limits[1], (std::pair<std::string, Duration>{"confirm", 500ms}));
  EXPECT_EQ(header.beats, (Patience{120s, 300s}));
}

TEST(TraceHeader, tells_what_it_passed_over) {
  const TraceHeader header =
      read(R"({"trace":1,"id":7,"limits":{"moon":1,"tool":"15m","model":-1,"beats":[1]}})");
  EXPECT_EQ(header.oddities,
            (std::vector<std::string>{
                "the header's `id` is no text; ignored", "there is no limit 'moon'; ignored",
                "the limit 'tool' is no number of seconds; ignored",
                "the limit 'model' is no number of seconds; ignored",
                "the limit 'beats' is no pair [suspect, stalled] of seconds; ignored"}));
  EXPECT_TRUE(header.limits.empty());
}

TEST(TraceHeader, expects_verdicts_and_actions) {
  const Clause always = clause(R"({"from":3,"to":640,"verdict":["working","idle"]})");
  EXPECT_EQ(always.form, Form::always);
  EXPECT_EQ(always.begin, Instant{3s});
  EXPECT_EQ(always.end, Instant{640s});
  EXPECT_TRUE(always.verdicts.contains(Verdict::idle));
  EXPECT_FALSE(always.verdicts.contains(Verdict::dead));
  EXPECT_EQ(clause(R"({"after":3,"by":9,"verdict":["dead"]})").form, Form::sometime);
  EXPECT_EQ(clause(R"({"after":3,"by":9,"action":["kill"]})").form, Form::taken);
  EXPECT_EQ(clause(R"({"from":3,"to":9,"never":["kill"]})").form, Form::never);
  const Clause at_most = clause(R"({"from":3,"to":3.5,"at-most":2,"action":["kill"], "why":"x"})");
  EXPECT_EQ(at_most.form, Form::at_most);
  EXPECT_EQ(at_most.most, 2U);
  EXPECT_EQ(at_most.end, Instant{3500ms});
  EXPECT_EQ(at_most.text, R"({"from":3,"to":3.5,"at-most":2,"action":["kill"],"why":"x"})");
}

TEST(TraceHeader, keeps_a_clause_that_it_does_not_understand) {
  for (const char* text :
       {"7", "{}", R"({"from":3,"to":9})", R"({"from":3,"verdict":["idle"]})",
        R"({"from":9,"to":3,"verdict":["idle"]})", R"({"from":-1,"to":3,"verdict":["idle"]})",
        R"({"from":1,"to":3,"verdict":["lazy"]})", R"({"from":1,"to":3,"verdict":[]})",
        R"({"from":1,"to":3,"verdict":"idle"})", R"({"from":1,"to":3,"action":["kill"]})",
        R"({"from":1,"to":3,"at-most":-1,"action":["kill"]})",
        R"({"after":1,"by":3,"never":["kill"]})",
        R"({"from":1,"to":3,"verdict":["idle"],"never":["kill"]})",
        R"({"from":1,"by":3,"verdict":["idle"]})", R"({"after":1,"by":3,"action":["slap"]})"}) {
    EXPECT_EQ(clause(text).form, Form::not_understood) << text;
    EXPECT_EQ(clause(text).text, text);
  }
  EXPECT_EQ(read(R"({"trace":1,"expect":"much"})").expect.size(), 1U);
}

TEST(TraceHeader, of_a_journal_says_where_its_keeper_stood) {
  const TraceHeader header = read(
      R"({"trace":1,"id":"x","policy":"worker","policy_full":{"name":"worker","budget": [3, 9]},)"
      R"("boot":"b-1","shift_ms":-250,"wall":1767225600.5,"at_ms":12500,"offset":4096,"said":12,)"
      R"("life":3,"actions":7,"judge":{"snapshot":1,"judge":{"hash":18446744073709551615,"s":"\u00e4\"",)"
      R"("n":[-1,null,true]}}})");
  EXPECT_EQ(header.policy_full, R"({"name":"worker","budget":[3,9]})");
  EXPECT_EQ(header.boot, "b-1");
  EXPECT_EQ(header.shift, -250ms);
  EXPECT_DOUBLE_EQ(header.wall, 1767225600.5);
  EXPECT_EQ(header.at, Instant{12500ms});
  EXPECT_EQ(header.offset, 4096U);
  EXPECT_EQ(header.said, 12U);
  EXPECT_EQ(header.life, 3U);
  EXPECT_EQ(header.actions, 7U);
  EXPECT_EQ(header.judge,
            "{\"snapshot\":1,\"judge\":{\"hash\":18446744073709551615,\"s\":\"\xc3\xa4\\\"\","
            "\"n\":[-1,null,true]}}");
  EXPECT_TRUE(header.oddities.empty());
}

TEST(TraceHeader, of_any_other_trace_says_nothing_of_the_kind) {
  const TraceHeader header = read(R"({"trace":1,"judge":null,"policy_full":null})");
  EXPECT_EQ(header.judge, "");
  EXPECT_EQ(header.policy_full, "");
  EXPECT_EQ(header.at, std::nullopt);
  EXPECT_EQ(header.offset, 0U);
  EXPECT_TRUE(header.oddities.empty());
}

TEST(TraceHeader, tells_which_words_of_a_journal_it_passed_over) {
  const TraceHeader header = read(
      R"({"trace":1,"boot":7,"shift_ms":"x","wall":null,"at_ms":-1,"offset":-5,"actions":1.5})");
  EXPECT_EQ(header.oddities, (std::vector<std::string>{
                                 "the header's `boot` is no text; ignored",
                                 "the header's `at_ms` is out of range; ignored",
                                 "the header's `shift_ms` is not a number that fits; ignored",
                                 "the header's `wall` is not a number that fits; ignored",
                                 "the header's `offset` is not a number that fits; ignored",
                                 "the header's `actions` is not a number that fits; ignored"}));
  EXPECT_EQ(header.at, std::nullopt);
}

}  // namespace
}  // namespace tend
