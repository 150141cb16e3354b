// What Claude Code's answers prove while they come piece by piece (`--include-partial-messages`),
// above all those of a model that goes in circles.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "sense/adapter_testing.h"

namespace tend {
namespace {

constexpr std::string_view kWeak = "activity";

std::string part(std::string_view event, std::string_view task = "") {
  return fmt::format(R"({{"type":"stream_event","event":{},"parent_tool_use_id":{}}})", event,
                     task.empty() ? "null" : fmt::format("\"{}\"", task));
}

std::string delta(std::string_view kind, std::string_view field, std::string_view text,
                  std::string_view task = "") {
  return part(fmt::format(R"({{"type":"content_block_delta","index":0,)"
                          R"("delta":{{"type":"{}","{}":"{}"}}}})",
                          kind, field, text),
              task);
}

std::string input(std::string_view piece, std::string_view task = "") {
  return delta("input_json_delta", "partial_json", piece, task);
}

std::string begin_input(std::string_view tool, std::string_view task = "") {
  return part(fmt::format(R"({{"type":"content_block_start","index":0,"content_block":)"
                          R"({{"type":"tool_use","id":"t","name":"{}","input":{{}}}}}})",
                          tool),
              task);
}

const std::string kBegin = part(R"({"type":"message_start","message":{"id":"m","content":[]}})");
const std::string kBlockStop = part(R"({"type":"content_block_stop","index":0})");
const std::string kMessageDelta =
    part(R"({"type":"message_delta","delta":{"stop_reason":"tool_use"}})");
const std::string kStop = part(R"({"type":"message_stop"})");
constexpr std::string_view kRequesting =
    R"({"type":"system","subtype":"status","status":"requesting"})";

class ClaudeDelta : public testing::Test {
 protected:
  /// An answer that asks for one call, as it is recorded, and the result; what each line was.
  std::vector<std::string> run(std::string_view command, std::string_view content,
                               std::string_view task = "") {
    const std::string id = fmt::format("t{}", ++calls_);
    const std::string of = task.empty() ? "null" : fmt::format("\"{}\"", task);
    const auto own = [&](std::string_view event) { return part(event, task); };
    std::vector<std::string> heard;
    for (const std::string& line :
         {std::string(kRequesting),
          own(R"({"type":"message_start","message":{"id":"m","content":[]}})"),
          begin_input("Bash", task), input(R"({\"command\": )", task),
          input(fmt::format(R"(\"{}\"}})", command), task),
          fmt::format(R"({{"type":"assistant","message":{{"content":[{{"type":"tool_use",)"
                      R"("id":"{}","name":"Bash","input":{{"command":"{}"}}}}]}},)"
                      R"("parent_tool_use_id":{}}})",
                      id, command, of),
          own(R"({"type":"content_block_stop","index":0})"),
          own(R"({"type":"message_delta","delta":{"stop_reason":"tool_use"}})"),
          own(R"({"type":"message_stop"})"),
          fmt::format(R"({{"type":"user","message":{{"content":[{{"type":"tool_result",)"
                      R"("tool_use_id":"{}","content":"{}"}}]}},"parent_tool_use_id":{}}})",
                      id, content, of)}) {
      heard.push_back(hear(line));
    }
    return heard;
  }

  void go_in_circles(std::string_view task = "") {
    for (int i = 0; i < 3; ++i) run("make test", "no such target", task);
  }

  /// How many of them say what an agent is taken to be at work for.
  static long progress_in(const std::vector<std::string>& heard) {
    return std::ranges::count_if(heard, [](const std::string& s) { return s.starts_with("prog"); });
  }

  Hearing hear{make_claude_adapter()};

 private:
  int calls_ = 0;
};

TEST_F(ClaudeDelta, is_progress_and_a_ping_is_noise) {
  EXPECT_EQ(hear(R"({"type":"stream_event","event":{"type":"ping"}})"), "noise");
  EXPECT_EQ(hear(part(R"({"type":"content_block_delta"})")), "progress");
  EXPECT_EQ(hear(part(R"({"type":"content_block_delta"})", "p")), "progress task=p");
}

TEST_F(ClaudeDelta, is_one_signal_of_a_flood_but_sub_agents_are_kept_apart) {
  constexpr std::string_view kLead = R"({"type":"stream_event","event":{"type":"x"}})";
  const std::string sub = part(R"({"type":"x"})", "p");
  EXPECT_EQ(hear.at_once({kLead, kLead, kLead}), "progress");
  EXPECT_EQ(hear.at_once({kLead, sub, sub, kLead}), "progress | progress task=p | progress");
  EXPECT_EQ(hear.at_once({"?", "?", kLead}), "activity | progress");
}

TEST_F(ClaudeDelta, is_progress_at_the_first_two_repetitions_as_at_the_first_call) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(progress_in(run("make test", "no such target")), 7) << i;
}

TEST_F(ClaudeDelta, renews_nothing_when_the_model_goes_in_circles) {
  go_in_circles();
  for (int n = 4; n < 20; ++n) {
    const auto heard = run("make test", "no such target");
    for (std::size_t i = 0; i < heard.size(); ++i) {
      const bool is_call = heard[i].starts_with("tool-");
      EXPECT_TRUE(heard[i] == kWeak || is_call) << "line " << i << ": " << heard[i];
    }
    EXPECT_EQ(heard.back(), fmt::format("tool-close id=t{} same={}", n, n));
  }
}

TEST_F(ClaudeDelta, renews_nothing_however_the_same_input_is_cut_into_pieces) {
  go_in_circles();
  for (std::size_t size = 1; size < 5; ++size) {
    EXPECT_EQ(hear(begin_input("Bash")), kWeak);
    EXPECT_EQ(hear(input("")), kWeak);
    std::string_view left = R"({"command": "make test"})";
    for (; !left.empty(); left.remove_prefix(std::min(size, left.size()))) {
      std::string piece;
      for (const char c : left.substr(0, size)) piece += c == '"' ? "\\\"" : std::string(1, c);
      EXPECT_EQ(hear(input(piece)), kWeak) << left;
    }
  }
}

TEST_F(ClaudeDelta, is_progress_all_the_while_that_a_new_input_is_written_after_a_circle) {
  go_in_circles();
  hear(begin_input("Bash"));
  EXPECT_EQ(hear(input(R"({\"command\": )")), kWeak) << "as always";
  EXPECT_EQ(hear(input(R"(\"cat > a.c\n)")), "progress");
  for (int i = 0; i < 50'000; ++i) ASSERT_EQ(hear(input("int x;\\n")), "progress") << i;
}

TEST_F(ClaudeDelta, is_progress_behind_the_end_of_the_input_that_was_the_same_so_far) {
  go_in_circles();
  hear(begin_input("Bash"));
  EXPECT_EQ(hear(input(R"({\"command\": \"make test\")")), kWeak);
  EXPECT_EQ(hear(input(R"(, \"timeout\": 5})")), "progress");
}

TEST_F(ClaudeDelta, is_progress_when_another_tool_is_called_with_the_same_input) {
  go_in_circles();
  EXPECT_EQ(hear(begin_input("BashOutput")), "progress");
  EXPECT_EQ(hear(input(R"({\"command\": \"make test\"})")), "progress");
}

TEST_F(ClaudeDelta, is_progress_with_words_and_thoughts_of_who_goes_in_circles) {
  go_in_circles();
  EXPECT_EQ(hear(kBegin), kWeak);
  EXPECT_EQ(hear(delta("thinking_delta", "thinking", "perhaps")), "progress");
  EXPECT_EQ(hear(delta("signature_delta", "signature", "s")), "progress");
  EXPECT_EQ(hear(delta("text_delta", "text", "once more")), "progress");
  EXPECT_EQ(hear(kBlockStop), kWeak);
  EXPECT_EQ(hear(begin_input("Bash")), kWeak) << "words between do not make the call a new one";
  EXPECT_EQ(hear(input(R"({\"command\": \"make)")), kWeak);
}

TEST_F(ClaudeDelta, is_progress_again_when_the_circle_is_left) {
  go_in_circles();
  run("make test", "it works");
  EXPECT_EQ(progress_in(run("make test", "it works")), 7);
  EXPECT_EQ(hear(kMessageDelta), "progress");
  EXPECT_EQ(hear(kStop), "progress");
}

TEST_F(ClaudeDelta, is_judged_for_the_lead_and_each_sub_agent_apart) {
  go_in_circles("sub");
  EXPECT_EQ(progress_in(run("make test", "no such target", "sub")), 0);
  EXPECT_EQ(progress_in(run("make test", "no such target", "other")), 7);
  EXPECT_EQ(progress_in(run("make test", "no such target")), 7);
  EXPECT_EQ(progress_in(run("make test", "no such target", "sub")), 0);
}

TEST_F(ClaudeDelta, is_progress_in_a_new_life_whatever_the_last_one_did) {
  go_in_circles();
  hear.adapter->begin_life();
  EXPECT_EQ(progress_in(run("make test", "no such target")), 7);
}

}  // namespace
}  // namespace tend
