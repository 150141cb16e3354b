// What Codex's lines prove, beyond the recordings in test/golden.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "sense/adapter_testing.h"

namespace tend {
namespace {

constexpr std::string_view kWeak = "activity";

std::string item(std::string_view event, std::string_view id, std::string_view type,
                 std::string_view rest = "") {
  return fmt::format(R"({{"type":"item.{}","item":{{"id":"{}","type":"{}"{}}}}})", event, id, type,
                     rest);
}

class CodexAdapter : public testing::Test {
 protected:
  std::string run(std::string_view id, std::string_view type, std::string_view input,
                  std::string_view result) {
    hear(item("started", id, type, input));
    return hear(item("completed", id, type, result));
  }

  Hearing hear{make_codex_adapter()};
};

TEST_F(CodexAdapter, counts_a_declined_call_as_denied) {
  EXPECT_EQ(run("i1", "command_execution", R"(,"command":"rm")", R"(,"status":"declined")"),
            "tool-close id=i1");
  EXPECT_EQ(hear(item("completed", "i2", "file_change", R"(,"status":"declined")")), "progress");
  EXPECT_EQ(hear(item("completed", "i3", "file_change", R"(,"status":"completed")")), "progress");
  EXPECT_EQ(hear.conversation().denied, 2U);
  EXPECT_EQ(hear.conversation().tools, 3U);
}

TEST_F(CodexAdapter, takes_a_change_of_files_without_a_start_for_progress) {
  EXPECT_EQ(hear(item("completed", "i1", "file_change", R"(,"changes":[{"path":"a"}])")),
            "progress");
  EXPECT_EQ(hear.conversation().tools, 1U);
}

TEST_F(CodexAdapter, hears_an_update_of_an_open_item_as_its_beat) {
  hear(item("started", "i1", "command_execution"));
  EXPECT_EQ(hear(item("updated", "i1", "command_execution")), "tool-beat id=i1");
  EXPECT_EQ(hear(item("started", "i2", "todo_list")), "progress");
  EXPECT_EQ(hear(item("updated", "i2", "todo_list")), "progress");
}

TEST_F(CodexAdapter, waits_for_a_child_where_it_calls_one) {
  EXPECT_EQ(hear(item("started", "i1", "collab_tool_call", R"(,"tool":"spawn_agent")")),
            "tool-open id=i1 tool=collab_tool_call child");
  EXPECT_EQ(hear(item("completed", "i1", "collab_tool_call")), "tool-close id=i1");
}

TEST_F(CodexAdapter, counts_identical_calls_with_identical_results) {
  constexpr std::string_view kInput = R"(,"command":"make")";
  EXPECT_EQ(run("i1", "command_execution", kInput, R"(,"exit_code":2)"), "tool-close id=i1");
  EXPECT_EQ(run("i2", "command_execution", kInput, R"(,"exit_code":2)"), "tool-close id=i2 same=2");
  EXPECT_EQ(run("i3", "command_execution", kInput, R"(,"exit_code":2)"), "tool-close id=i3 same=3");
  EXPECT_EQ(run("i4", "command_execution", kInput, R"(,"exit_code":0)"), "tool-close id=i4");
}

TEST_F(CodexAdapter, sees_no_circle_where_only_a_part_of_the_call_is_told) {
  constexpr std::string_view kChange = R"(,"changes":[{"path":"a.cc","kind":"update"}])";
  constexpr std::string_view kTask = R"(,"tool":"spawn_agent","prompt":null)";
  for (int i = 0; i < 4; ++i) {
    const std::string id = fmt::format("i{}", i);
    EXPECT_EQ(run(id, "file_change", kChange, kChange), "tool-close id=" + id);
    const std::string child = fmt::format("c{}", i);
    EXPECT_EQ(run(child, "collab_tool_call", kTask, kTask), "tool-close id=" + child);
  }
}

TEST_F(CodexAdapter, closes_what_is_open_with_the_turn) {
  hear(R"({"type":"turn.started"})");
  hear(item("started", "i1", "command_execution"));
  EXPECT_EQ(hear(R"({"type":"turn.completed"})"), "turn-end");
  EXPECT_EQ(hear(item("completed", "i1", "command_execution")), "progress");
}

TEST_F(CodexAdapter, does_not_take_an_error_for_the_end) {
  EXPECT_EQ(hear(R"({"type":"error","message":"Reconnecting... 2/5 timeout"})"),
            "retry cause=network");
  EXPECT_EQ(hear(R"({"type":"error","message":"Reconnecting... 429 Too Many Requests"})"),
            "retry cause=rate");
  EXPECT_EQ(hear(R"({"type":"error","message":"odd"})"), "error cause=another (another)");
  EXPECT_EQ(hear(item("completed", "i1", "error", R"(,"message":"a notice")")), kWeak);
}

TEST_F(CodexAdapter, ends_a_failed_turn_with_its_cause) {
  EXPECT_EQ(hear(R"({"type":"turn.failed","error":{"message":"You've hit your usage limit."}})"),
            "turn-end cause=quota");
  EXPECT_TRUE(hear.conversation().failed);
  EXPECT_EQ(hear(R"({"type":"turn.failed"})"), "turn-end cause=error (another)");
}

TEST_F(CodexAdapter, learns_the_thread_and_whether_it_said_something) {
  EXPECT_EQ(hear(R"({"type":"thread.started","thread_id":"0199-a"})"), kWeak);
  EXPECT_EQ(hear.conversation().session, "0199-a");
  EXPECT_FALSE(hear.conversation().said_something);
  EXPECT_EQ(hear(item("completed", "i1", "agent_message", R"(,"text":"hi")")), "progress");
  EXPECT_TRUE(hear.conversation().said_something);
}

TEST_F(CodexAdapter, forgets_everything_with_the_life) {
  hear(R"({"type":"thread.started","thread_id":"0199-a"})");
  run("i1", "command_execution", "", "");
  hear(item("started", "i2", "command_execution"));
  hear.adapter->begin_life();
  EXPECT_EQ(hear(item("completed", "i2", "command_execution")), "progress");
  EXPECT_EQ(run("i3", "command_execution", "", ""), "tool-close id=i3");
  EXPECT_EQ(hear.conversation().session, "");
}

TEST_F(CodexAdapter, takes_what_it_does_not_know_for_a_weak_sign) {
  for (const std::string_view line :
       {"thread 'main' panicked", "{\"type\":\"item.started\"", R"({"type":"item.started"})",
        R"({"type":"item.completed","item":{"type":"agent_message"}})",
        R"({"type":"item.vanished","item":{"id":"i","type":"x"}})", R"({"type":"new"})", "[1]"}) {
    EXPECT_EQ(hear(line), kWeak) << line;
  }
}

TEST_F(CodexAdapter, survives_every_field_with_a_value_of_another_type) {
  constexpr std::array<std::string_view, 6> kLines{
      R"({"type":"item.started","item":@})",
      R"({"type":"item.started","item":{"id":@,"type":@,"command":@}})",
      R"({"type":"item.started","item":{"id":"i","type":"mcp_tool_call","server":@,"tool":@,"arguments":@}})",
      R"({"type":"item.completed","item":{"id":"i","type":@,"status":@,"aggregated_output":@,"exit_code":@,"result":@,"error":@}})",
      R"({"type":"turn.failed","error":@})",
      R"({"type":"error","message":@})",
  };
  for (const std::string_view line : kLines) {
    for (const std::string_view value :
         {"7", "true", "null", "[]", "[[1,2],[3]]", "{}", R"({"message":{"b":[]}})", "nonsense"}) {
      std::string text(line);
      for (std::size_t at = 0; (at = text.find('@', at)) != text.npos;) text.replace(at, 1, value);
      EXPECT_EQ(hear.count(text), 1U) << text;
    }
  }
}

TEST_F(CodexAdapter, S26_hears_no_limit_where_the_model_only_talks_of_one) {
  constexpr std::string_view kTalk = "429 rate limit reached, invalid API key, overloaded";
  EXPECT_EQ(hear(item("completed", "i1", "agent_message", fmt::format(R"(,"text":"{}")", kTalk))),
            "progress");
  EXPECT_EQ(run("i2", "command_execution", R"(,"command":"curl")",
                fmt::format(R"(,"aggregated_output":"{}","exit_code":0)", kTalk)),
            "tool-close id=i2");
}

}  // namespace
}  // namespace tend
