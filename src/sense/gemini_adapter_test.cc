// What Gemini CLI's lines prove, beyond the recordings in test/golden.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>

#include "sense/adapter_testing.h"

namespace tend {
namespace {

constexpr std::string_view kWeak = "activity";
constexpr std::string_view kInit = R"({"type":"init","session_id":"g-1","model":"m"})";

std::string says(std::string_view text) {
  return fmt::format(R"({{"type":"message","role":"assistant","content":"{}","delta":true}})",
                     text);
}

std::string uses(std::string_view id, std::string_view tool, std::string_view input = "{}") {
  return fmt::format(R"({{"type":"tool_use","tool_name":"{}","tool_id":"{}","parameters":{}}})",
                     tool, id, input);
}

std::string result_of(std::string_view id, std::string_view rest = R"(,"output":"x")") {
  return fmt::format(R"({{"type":"tool_result","tool_id":"{}"{}}})", id, rest);
}

class GeminiAdapter : public testing::Test {
 protected:
  /// '+' for each piece of an answer that is news, '-' for each that is noise.
  std::string told(std::initializer_list<std::string_view> pieces) {
    std::string news;
    for (const std::string_view piece : pieces) news += hear(says(piece)) == "progress" ? '+' : '-';
    return news;
  }

  Hearing hear{make_gemini_adapter()};
};

TEST_F(GeminiAdapter, takes_an_answer_that_is_told_again_for_noise) {
  EXPECT_EQ(told({"The quick", " brown", " fox"}), "+++");
  EXPECT_EQ(told({"The quick", " brown", " fox"}), "---");
  EXPECT_EQ(told({" jumps"}), "+");
}

TEST_F(GeminiAdapter, knows_an_answer_by_its_text_and_not_by_its_pieces) {
  EXPECT_EQ(told({"The quick", " brown", " fox"}), "+++");
  EXPECT_EQ(told({"The", " quick br", "own fox"}), "---");
  EXPECT_EQ(told({"The quick brown", " fox jumps", " over"}), "-++");
  EXPECT_EQ(told({"The quick", " brown fox jumps", " over", " it"}), "---+");
}

TEST_F(GeminiAdapter, knows_an_answer_that_is_told_again_as_often_as_it_likes) {
  EXPECT_EQ(told({"one ", "two "}), "++");
  EXPECT_EQ(told({"one ", "two "}), "--");
  EXPECT_EQ(told({"one ", "two "}), "--");
  EXPECT_EQ(told({"one ", "two three"}), "-+");
  EXPECT_EQ(told({"one two three"}), "-");
}

TEST_F(GeminiAdapter, takes_pieces_that_occur_twice_within_an_answer_for_progress) {
  EXPECT_EQ(told({"six", "teen", " seven", "teen", " eigh", "teen"}), "++++++");
}

TEST_F(GeminiAdapter, does_not_take_a_new_answer_with_a_like_beginning_for_the_old_one) {
  EXPECT_EQ(told({"The quick", " brown"}), "++");
  EXPECT_EQ(told({"The", " slow", " red"}), "-++");
  EXPECT_EQ(told({"The quick brownThe slow red"}), "-") << "that is what was said so far";
}

TEST_F(GeminiAdapter, begins_a_new_answer_after_a_call) {
  EXPECT_EQ(told({"Let me see."}), "+");
  hear(uses("t1", "ls"));
  hear(result_of("t1"));
  EXPECT_EQ(told({"Let me see."}), "+");
}

TEST_F(GeminiAdapter, remembers_a_bounded_part_of_an_answer) {
  const std::string piece(50'000, 'x');
  EXPECT_EQ(told({piece, "1" + piece, "2" + piece}), "+++");
  EXPECT_EQ(told({piece, "2"}), "-+");
}

TEST_F(GeminiAdapter, hears_a_question_and_its_answer) {
  EXPECT_EQ(hear(uses("q", "ask_user")), "tool-open id=q tool=ask_user | ask id=q");
  EXPECT_EQ(hear(result_of("q")), "answer id=q | tool-close id=q");
}

TEST_F(GeminiAdapter, counts_identical_calls_with_identical_results) {
  const auto run = [&](std::string_view id, std::string_view input, std::string_view result) {
    hear(uses(id, "ls", input));
    return hear(result_of(id, result));
  };
  EXPECT_EQ(run("a", "{}", R"(,"output":"x")"), "tool-close id=a");
  EXPECT_EQ(run("b", "{}", R"(,"output":"x")"), "tool-close id=b same=2");
  EXPECT_EQ(run("c", "{}", R"(,"output":"x")"), "tool-close id=c same=3");
  EXPECT_EQ(run("d", R"({"a":1})", R"(,"output":"x")"), "tool-close id=d");
  EXPECT_EQ(run("e", R"({"a":1})", R"(,"error":{"message":"x"})"), "tool-close id=e");
}

TEST_F(GeminiAdapter, counts_what_nobody_was_there_to_allow) {
  hear(uses("a", "run_shell_command"));
  hear(result_of("a", R"(,"status":"error","error":{"type":"policy_violation"})"));
  hear(uses("b", "run_shell_command"));
  hear(result_of("b", R"(,"status":"error","error":{"type":"tool_not_registered"})"));
  hear(uses("c", "run_shell_command"));
  hear(result_of("c", R"(,"status":"error","error":{"type":"failed"})"));
  EXPECT_EQ(hear.conversation().denied, 2U);
  EXPECT_EQ(hear.conversation().tools, 3U);
}

TEST_F(GeminiAdapter, hears_errors_but_not_warnings) {
  EXPECT_EQ(hear(R"({"type":"error","severity":"warning","message":"Loop detected 503"})"), kWeak);
  EXPECT_EQ(hear(R"({"type":"error","severity":"error","message":"fetch failed"})"),
            "error cause=network");
  EXPECT_EQ(hear(R"({"type":"result","status":"error","error":{"message":"[API Error: 429]"}})"),
            "turn-end cause=rate");
  EXPECT_EQ(hear(R"({"type":"result","status":"error"})"), "turn-end cause=error (another)");
  EXPECT_EQ(hear(R"({"type":"result","status":"success"})"), "turn-end");
  EXPECT_FALSE(hear.conversation().failed);
}

TEST_F(GeminiAdapter, forgets_everything_with_the_life) {
  EXPECT_EQ(hear(kInit), "turn-start");
  EXPECT_EQ(hear.conversation().session, "g-1");
  hear(uses("t", "ls"));
  EXPECT_EQ(told({"hello"}), "+");
  hear.adapter->begin_life();
  EXPECT_EQ(told({"hello"}), "+");
  EXPECT_EQ(hear(result_of("t")), "progress");
  EXPECT_EQ(hear.conversation().session, "");
}

TEST_F(GeminiAdapter, takes_what_it_does_not_know_for_a_weak_sign) {
  for (const std::string_view line :
       {"Loaded cached credentials.", "{\"type\":\"init\"", R"({"type":"new"})", "[1]",
        R"({"type":"message","role":"user","content":"hi"})", R"({"type":"message"})"}) {
    EXPECT_EQ(hear(line), kWeak) << line;
  }
  EXPECT_EQ(hear(says("")), "noise");
}

TEST_F(GeminiAdapter, survives_every_field_with_a_value_of_another_type) {
  constexpr std::array<std::string_view, 6> kLines{
      R"({"type":"init","session_id":@})",
      R"({"type":"message","role":"assistant","content":@})",
      R"({"type":"tool_use","tool_name":@,"tool_id":@,"parameters":@})",
      R"({"type":"tool_use","tool_name":@,"tool_id":"t","parameters":@})",
      R"({"type":"tool_result","tool_id":"t","output":@,"error":@})",
      R"({"type":"result","status":@,"error":@})",
  };
  for (const std::string_view line : kLines) {
    for (const std::string_view value :
         {"7", "true", "null", "[]", "[[1,2],[3]]", "{}", R"({"type":{"b":[]}})", "nonsense"}) {
      std::string text(line);
      for (std::size_t at = 0; (at = text.find('@', at)) != text.npos;) text.replace(at, 1, value);
      EXPECT_EQ(hear.count(text), 1U) << text;
    }
  }
}

TEST_F(GeminiAdapter, S26_hears_no_limit_where_the_model_only_talks_of_one) {
  constexpr std::string_view kTalk = "429 rate limit reached, invalid API key, overloaded";
  EXPECT_EQ(hear(says(kTalk)), "progress");
  hear(uses("t1", "run_shell_command"));
  EXPECT_EQ(hear(result_of("t1", fmt::format(R"(,"output":"{}")", kTalk))), "tool-close id=t1");
}

}  // namespace
}  // namespace tend
