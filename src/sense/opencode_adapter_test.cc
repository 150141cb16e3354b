// What OpenCode's lines prove, beyond the recordings in test/golden.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "sense/adapter_testing.h"

namespace tend {
namespace {

constexpr std::string_view kWeak = "activity";
constexpr std::string_view kStep = R"({"type":"step_start","sessionID":"ses_1","part":{}})";
constexpr std::string_view kText = R"({"type":"text","sessionID":"ses_1","part":{"text":"x"}})";

std::string finish(std::string_view reason) {
  return fmt::format(R"({{"type":"step_finish","part":{{"reason":"{}"}}}})", reason);
}

std::string tool(std::string_view id, std::string_view input, std::string_view output) {
  return fmt::format(
      R"({{"type":"tool_use","part":{{"callID":"{}","tool":"bash","state":{{"status":"completed",)"
      R"("input":{{"command":"{}"}},"output":"{}"}}}}}})",
      id, input, output);
}

std::string error(std::string_view rest) {
  return fmt::format(R"({{"type":"error","sessionID":"ses_1","error":{{{}}}}})", rest);
}

class OpencodeAdapter : public testing::Test {
 protected:
  Hearing hear{make_opencode_adapter()};
};

TEST_F(OpencodeAdapter,
       takes_a_good_end_after_a_tool_that_was_not_allowed_for_the_end_of_the_turn) {
  const std::string denied =
      R"({"type":"tool_use","part":{"callID":"c1","tool":"bash","state":{"status":"error",)"
      R"("error":"The user rejected permission to use this specific tool call."}}})";
  EXPECT_EQ(hear(kStep), "turn-start");
  EXPECT_EQ(hear(denied), "tool-open id=c1 tool=bash | tool-close id=c1");
  EXPECT_EQ(hear.conversation().denied, 1U);
  EXPECT_EQ(hear(finish("tool-calls")), "progress");
  SignalBatch batch;
  hear.adapter->end_well(batch);
  ASSERT_EQ(batch.signals.size(), 1U);
  EXPECT_EQ(batch.signals[0].is, Kind::turn_end);
  EXPECT_EQ(hear.adapter->take_remarks().size(), 1U);
}

TEST_F(OpencodeAdapter, takes_no_step_for_news_while_its_calls_go_in_circles) {
  hear(kStep);
  hear(kText);
  for (const char* id : {"c1", "c2"}) {
    hear(tool(id, "make test", "no such target"));
    EXPECT_EQ(hear(finish("tool-calls")), "progress");
    EXPECT_EQ(hear(kStep), "progress");
  }
  EXPECT_EQ(hear(tool("c3", "make test", "no such target")),
            "tool-open id=c3 tool=bash | tool-close id=c3 same=3");
  EXPECT_EQ(hear(finish("tool-calls")), kWeak);
  EXPECT_EQ(hear(kStep), kWeak);
  hear(tool("c4", "make test", "all well"));
  EXPECT_EQ(hear(finish("tool-calls")), "progress") << "another result is news";
}

TEST_F(OpencodeAdapter, takes_words_for_news_whatever_its_calls_did_before) {
  hear(kStep);
  for (const char* id : {"c1", "c2", "c3"}) hear(tool(id, "make test", "no such target"));
  EXPECT_EQ(hear(kText), "progress");
  EXPECT_EQ(hear(finish("tool-calls")), "progress");
}

TEST_F(OpencodeAdapter, does_not_take_an_end_in_the_middle_of_a_turn_for_its_end) {
  EXPECT_EQ(hear(kStep), "turn-start");
  SignalBatch batch;
  hear.adapter->end_well(batch);
  EXPECT_TRUE(batch.signals.empty());
}

TEST_F(OpencodeAdapter, takes_a_second_step_with_nothing_between_for_a_lost_connection) {
  EXPECT_EQ(hear(kStep), "turn-start");
  EXPECT_EQ(hear(kStep), "error cause=network");
  EXPECT_EQ(hear(kStep), "error cause=network");
  EXPECT_EQ(hear(kText), "progress");
  EXPECT_EQ(hear(kStep), "progress");
}

TEST_F(OpencodeAdapter, does_not_take_a_line_it_does_not_know_for_an_answer) {
  hear(kStep);
  EXPECT_EQ(hear(R"({"type":"brand_new"})"), kWeak);
  EXPECT_EQ(hear(kStep), "error cause=network");
}

TEST_F(OpencodeAdapter, goes_on_after_a_step_of_calls_and_ends_after_any_other) {
  hear(kStep);
  EXPECT_EQ(hear(tool("c1", "ls", "x")), "tool-open id=c1 tool=bash | tool-close id=c1");
  EXPECT_EQ(hear(finish("tool-calls")), "progress");
  EXPECT_EQ(hear(kStep), "progress");
  EXPECT_EQ(hear(finish("unknown")), "progress");
  EXPECT_EQ(hear(finish("stop")), "turn-end");
  EXPECT_EQ(hear(kStep), "turn-start");
  EXPECT_EQ(hear(finish("length")), "turn-end");
}

TEST_F(OpencodeAdapter, counts_identical_calls_with_identical_results) {
  hear(tool("c1", "ls", "x"));
  EXPECT_EQ(hear(tool("c2", "ls", "x")), "tool-open id=c2 tool=bash | tool-close id=c2 same=2");
  EXPECT_EQ(hear(tool("c3", "ls", "x")), "tool-open id=c3 tool=bash | tool-close id=c3 same=3");
  EXPECT_EQ(hear(tool("c4", "ls", "y")), "tool-open id=c4 tool=bash | tool-close id=c4");
  EXPECT_EQ(hear.conversation().tools, 4U);
}

TEST_F(OpencodeAdapter, tells_the_cause_by_status_then_message_then_name) {
  EXPECT_EQ(hear(error(R"("name":"APIError","data":{"statusCode":429,"message":"quota"})")),
            "turn-end cause=rate");
  EXPECT_EQ(hear(error(R"("name":"APIError","data":{"statusCode":400,"message":"timed out"})")),
            "turn-end cause=network");
  EXPECT_EQ(hear(error(R"("name":"ProviderAuthError","data":{"message":"no"})")),
            "turn-end cause=auth");
  EXPECT_EQ(hear(error(R"("name":"MessageAbortedError")")), "turn-end cause=error (another)");
  EXPECT_EQ(hear(error(R"("name":"APIError","data":{"statusCode":1e300})")),
            "turn-end cause=error (another)");
  EXPECT_TRUE(hear.conversation().failed);
}

TEST_F(OpencodeAdapter, is_done_once) {
  EXPECT_EQ(hear(R"({"type":"done","reason":"idle"})"), kWeak);
  hear(kStep);
  EXPECT_EQ(hear(R"({"type":"done","reason":"idle"})"), "turn-end");
  EXPECT_EQ(hear(R"({"type":"done","reason":"idle"})"), kWeak);
}

TEST_F(OpencodeAdapter, learns_the_session_and_whether_it_said_something) {
  hear(kStep);
  EXPECT_EQ(hear.conversation().session, "ses_1");
  EXPECT_EQ(hear(R"({"type":"reasoning","part":{}})"), "progress");
  EXPECT_FALSE(hear.conversation().said_something);
  hear(kText);
  EXPECT_TRUE(hear.conversation().said_something);
}

TEST_F(OpencodeAdapter, forgets_everything_with_the_life) {
  hear(kStep);
  hear(tool("c1", "ls", "x"));
  hear(kStep);
  hear.adapter->begin_life();
  EXPECT_EQ(hear(kStep), "turn-start");
  EXPECT_EQ(hear(tool("c2", "ls", "x")), "tool-open id=c2 tool=bash | tool-close id=c2");
}

TEST_F(OpencodeAdapter, takes_what_it_does_not_know_for_a_weak_sign) {
  for (const std::string_view line : {"oops", "{\"type\":\"text\"", R"({"type":"new"})",
                                      R"({"type":"tool_use"})", R"({"type":["text"]})", "[1]"}) {
    EXPECT_EQ(hear(line), kWeak) << line;
  }
}

TEST_F(OpencodeAdapter, survives_every_field_with_a_value_of_another_type) {
  constexpr std::array<std::string_view, 7> kLines{
      R"({"type":"step_start","sessionID":@,"part":@})",
      R"({"type":"tool_use","part":@})",
      R"({"type":"tool_use","part":{"callID":@,"tool":@,"state":@}})",
      R"({"type":"tool_use","part":{"callID":"c","tool":@,"state":{"input":@,"output":@,"error":@}}})",
      R"({"type":"step_finish","part":@})",
      R"({"type":"error","error":@})",
      R"({"type":"error","error":{"name":@,"data":{"statusCode":@,"message":@}}})",
  };
  for (const std::string_view line : kLines) {
    for (const std::string_view value :
         {"7", "true", "null", "[]", "[[1,2],[3]]", "{}", R"({"reason":{"b":[]}})", "nonsense"}) {
      std::string text(line);
      for (std::size_t at = 0; (at = text.find('@', at)) != text.npos;) text.replace(at, 1, value);
      const std::size_t count = hear.count(text);
      EXPECT_TRUE(count == 1 || count == 2) << text;
    }
  }
}

TEST_F(OpencodeAdapter, S26_hears_no_limit_where_the_model_only_talks_of_one) {
  constexpr std::string_view kTalk = "429 rate limit reached, invalid API key, overloaded";
  hear(kStep);
  EXPECT_EQ(
      hear(fmt::format(R"({{"type":"text","sessionID":"ses_1","part":{{"text":"{}"}}}})", kTalk)),
      "progress");
  EXPECT_EQ(hear(tool("c1", "curl", kTalk)), "tool-open id=c1 tool=bash | tool-close id=c1");
}

}  // namespace
}  // namespace tend
