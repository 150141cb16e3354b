// Which language a stream is taken for.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "sense/adapter_testing.h"

namespace tend {
namespace {

constexpr std::string_view kClaude = R"({"type":"system","subtype":"init","session_id":"s"})";
constexpr std::string_view kCodex = R"({"type":"thread.started","thread_id":"t"})";
constexpr std::string_view kOpencode = R"({"type":"step_start","sessionID":"ses"})";
constexpr std::string_view kGemini = R"({"type":"init","session_id":"g"})";

class GuessingAdapter : public testing::Test {
 protected:
  [[nodiscard]] AdapterKind kind() const { return hear.adapter->kind(); }

  Hearing hear{make_guessing_adapter()};
};

TEST_F(GuessingAdapter, knows_each_language_by_its_first_line) {
  const auto kind_of = [](std::string_view line) {
    Hearing fresh(make_guessing_adapter());
    fresh(line);
    return fresh.adapter->kind();
  };
  EXPECT_EQ(kind_of(kClaude), AdapterKind::claude);
  EXPECT_EQ(kind_of(R"({"type":"system","subtype":"hook_started","session_id":"s"})"),
            AdapterKind::claude);
  EXPECT_EQ(kind_of(R"({"type":"result","is_error":true,"session_id":"s"})"), AdapterKind::claude);
  EXPECT_EQ(kind_of(kCodex), AdapterKind::codex);
  EXPECT_EQ(kind_of(R"({"type":"turn.started"})"), AdapterKind::codex);
  EXPECT_EQ(kind_of(kOpencode), AdapterKind::opencode);
  EXPECT_EQ(kind_of(R"({"type":"error","sessionID":"ses","error":{}})"), AdapterKind::opencode);
  EXPECT_EQ(kind_of(kGemini), AdapterKind::gemini);
}

TEST_F(GuessingAdapter, hears_the_line_that_gave_it_away) {
  EXPECT_EQ(hear(kClaude), "turn-start");
  EXPECT_EQ(hear.conversation().session, "s");
}

TEST_F(GuessingAdapter, waits_through_text_and_blank_lines) {
  EXPECT_EQ(hear("Loaded cached credentials."), "progress");
  EXPECT_EQ(hear(""), "noise");
  EXPECT_EQ(hear("  "), "noise");
  EXPECT_EQ(hear("{broken"), "progress");
  EXPECT_EQ(kind(), AdapterKind::lines);
  EXPECT_EQ(hear.adapter->conversation(), nullptr);
  EXPECT_EQ(hear(kGemini), "turn-start");
  EXPECT_EQ(kind(), AdapterKind::gemini);
}

TEST_F(GuessingAdapter, takes_another_program_that_speaks_json_for_lines) {
  EXPECT_EQ(hear(R"({"level":"info","msg":"started"})"), "progress");
  EXPECT_EQ(hear(R"({"type":"init"})"), "progress") << "without a session it is nobody's";
  EXPECT_EQ(hear(R"({"type":"error","message":"x"})"), "progress");
  EXPECT_EQ(hear(R"({"type":"result","session_id":7})"), "progress");
  EXPECT_EQ(hear(R"({"level":"info","msg":"started"})"), "noise");
  EXPECT_EQ(kind(), AdapterKind::lines);
}

TEST_F(GuessingAdapter, stops_guessing_after_fifty_lines) {
  for (int i = 0; i < 50; ++i) hear("line " + std::to_string(i));
  EXPECT_EQ(hear(kClaude), "progress");
  EXPECT_EQ(kind(), AdapterKind::lines);
}

TEST_F(GuessingAdapter, guesses_anew_in_the_next_life_and_keeps_what_it_knows) {
  for (int i = 0; i < 50; ++i) hear("line " + std::to_string(i));
  hear.adapter->begin_life();
  EXPECT_EQ(hear(kCodex), "activity");
  EXPECT_EQ(kind(), AdapterKind::codex);
  hear.adapter->begin_life();
  EXPECT_EQ(hear(kClaude), "activity");
  EXPECT_EQ(kind(), AdapterKind::codex);
}

TEST_F(GuessingAdapter, survives_what_is_no_line_of_anybody) {
  using namespace std::string_literals;
  for (const std::string& line :
       {"{"s, "{\0}"s, "{\"type\":\"init\",\"session_id\":\"\xff\"}"s, std::string(100'000, '{'),
        R"({"type":["init"],"session_id":{}})"s, R"({"type":"init","session_id":"g")"s}) {
    hear(line);
    EXPECT_EQ(kind(), AdapterKind::lines) << line.substr(0, 40);
  }
}

TEST(MakeAdapter, makes_each_kind_and_nothing_of_none) {
  EXPECT_EQ(make_adapter(AdapterKind::none), nullptr);
  EXPECT_EQ(make_adapter(AdapterKind::by_itself)->kind(), AdapterKind::lines);
  for (const AdapterKind kind : {AdapterKind::lines, AdapterKind::claude, AdapterKind::codex,
                                 AdapterKind::opencode, AdapterKind::gemini}) {
    EXPECT_EQ(make_adapter(kind)->kind(), kind);
  }
}

}  // namespace
}  // namespace tend
