// Every event of every agent, and what it becomes.
#include "app/hook_signals.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tend {
namespace {

using Signals = std::vector<std::string>;

const std::string kActivity = R"({"is":"activity","from":"log"})";
const std::string kAnswered = R"({"is":"answer","id":"permission"})";
const std::string kAsked = R"({"is":"ask","id":"permission"})";

/// An event with its name and these further fields.
std::string event(const std::string& name, const std::string& fields = "") {
  return R"({"session_id":"s","cwd":"/x","hook_event_name":")" + name + "\"" +
         (fields.empty() ? "" : "," + fields) + "}";
}

Signals claude(const std::string& name, const std::string& fields = "",
               Hearing hearing = Hearing::all) {
  return hook_signals(HookAgent::claude, event(name, fields), hearing);
}
Signals codex(const std::string& name, const std::string& fields = "") {
  return hook_signals(HookAgent::codex, event(name, fields), Hearing::all);
}
Signals gemini(const std::string& name, const std::string& fields = "",
               Hearing hearing = Hearing::all) {
  return hook_signals(HookAgent::gemini, event(name, fields), hearing);
}

TEST(HookSignals, a_session_that_starts_is_a_weak_sign) {
  EXPECT_EQ(claude("SessionStart", R"("source":"startup")"), Signals{kActivity});
  EXPECT_EQ(claude("SessionStart", R"("source":"compact")"), Signals{R"({"is":"compact-end"})"});
}

TEST(HookSignals, a_prompt_starts_a_turn) {
  EXPECT_EQ(claude("UserPromptSubmit", R"("prompt":"go")"), Signals{R"({"is":"turn-start"})"});
}

TEST(HookSignals, a_tool_opens_with_its_own_limit) {
  const std::string fields =
      R"("tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"make","timeout":)";
  EXPECT_EQ(claude("PreToolUse", fields + "600000}"),
            Signals{R"({"is":"tool-open","id":"t1","tool":"Bash","limit":600})"});
  EXPECT_EQ(claude("PreToolUse", fields + "1500}"),
            Signals{R"({"is":"tool-open","id":"t1","tool":"Bash","limit":1.500})"});
  const std::string without = R"({"is":"tool-open","id":"t1","tool":"Bash"})";
  for (const char* limit : {"-5}", "0}", "1e300}", "\"soon\"}", "null}"}) {
    EXPECT_EQ(claude("PreToolUse", fields + limit), Signals{without}) << limit;
  }
}

TEST(HookSignals, a_timeout_is_a_limit_only_where_the_agent_keeps_it) {
  EXPECT_EQ(claude("PreToolUse",
                   R"("tool_name":"mcp__x__y","tool_use_id":"t1","tool_input":{"timeout":5})"),
            Signals{R"({"is":"tool-open","id":"t1","tool":"mcp__x__y"})"});
}

TEST(HookSignals, a_call_of_a_sub_agent_says_whose_it_is) {
  EXPECT_EQ(claude("PreToolUse", R"("tool_name":"Read","tool_use_id":"t2","agent_id":"a7")"),
            Signals{R"({"is":"tool-open","id":"t2","tool":"Read","task":"a7"})"});
}

TEST(HookSignals, a_call_that_ends_closes_what_was_asked_before) {
  const Signals closed{kAnswered, R"({"is":"tool-close","id":"t1"})"};
  const std::string fields = R"("tool_name":"Bash","tool_use_id":"t1","tool_response":{"x":[1]})";
  EXPECT_EQ(claude("PostToolUse", fields), closed);
  EXPECT_EQ(claude("PostToolUseFailure", fields + R"(,"error":"x")"), closed);
}

TEST(HookSignals, a_question_to_a_person_is_a_call_and_asks) {
  for (const std::string tool : {"AskUserQuestion", "ExitPlanMode"}) {
    const std::string fields = R"("tool_name":")" + tool + R"(","tool_use_id":"q1")";
    EXPECT_EQ(claude("PreToolUse", fields),
              (Signals{R"({"is":"tool-open","id":"q1","tool":")" + tool + "\"}",
                       R"({"is":"ask","id":"q1"})"}));
    EXPECT_EQ(claude("PostToolUse", fields), (Signals{R"({"is":"answer","id":"q1"})", kAnswered,
                                                      R"({"is":"tool-close","id":"q1"})"}));
  }
}

TEST(HookSignals, a_permission_is_asked_of_a_person) {
  EXPECT_EQ(claude("PermissionRequest", R"("tool_name":"Bash")"), Signals{kAsked});
  for (const std::string type :
       {"permission_prompt", "elicitation_dialog", "elicitation_url_dialog", "agent_needs_input"}) {
    EXPECT_EQ(claude("Notification", R"("notification_type":")" + type + "\""), Signals{kAsked});
  }
  EXPECT_EQ(claude("Notification", R"("notification_type":"auth_success")"), Signals{kActivity});
}

TEST(HookSignals, a_prompt_that_waits_ends_a_turn_that_was_broken_off) {
  EXPECT_EQ(claude("Notification", R"("notification_type":"idle_prompt")"),
            (Signals{kAnswered, R"({"is":"turn-end"})", R"({"is":"state","state":"idle"})"}));
}

TEST(HookSignals, a_compaction_has_a_start_and_an_end) {
  EXPECT_EQ(claude("PreCompact", R"("trigger":"auto")"), Signals{R"({"is":"compact-start"})"});
  EXPECT_EQ(claude("PostCompact"), Signals{R"({"is":"compact-end"})"});
}

TEST(HookSignals, a_sub_agent_is_progress_of_its_own) {
  const Signals progress{R"({"is":"progress","task":"a7"})"};
  EXPECT_EQ(claude("SubagentStart", R"("agent_id":"a7")"), progress);
  EXPECT_EQ(claude("SubagentStop", R"("agent_id":"a7")"), progress);
  EXPECT_EQ(claude("SubagentStop"), Signals{kActivity}) << "the lead's progress it is not";
}

TEST(HookSignals, a_turn_ends_with_what_still_runs_beside_it) {
  EXPECT_EQ(claude("Stop"), (Signals{kAnswered, R"({"is":"turn-end"})"}));
  EXPECT_EQ(claude("Stop", R"("background_tasks":[{"id":"a","status":"running"},{"id":"b"},)"
                           R"({"status":"completed"},{"status":"killed"},7])"),
            (Signals{kAnswered, R"({"is":"turn-end","background":2})"}));
}

TEST(HookSignals, a_turn_that_failed_says_why) {
  const auto error = [](const std::string& word) {
    return claude("StopFailure", R"("error":")" + word + "\"").back();
  };
  EXPECT_EQ(error("rate_limit"), R"({"is":"turn-end","error":"rate"})");
  EXPECT_EQ(error("overloaded"), R"({"is":"turn-end","error":"overload"})");
  EXPECT_EQ(error("server_error"), R"({"is":"turn-end","error":"overload"})");
  EXPECT_EQ(error("authentication_failed"), R"({"is":"turn-end","error":"auth"})");
  EXPECT_EQ(error("billing_error"), R"({"is":"turn-end","error":"quota"})");
  EXPECT_EQ(error("max_output_tokens"), R"({"is":"turn-end","error":"max_output_tokens"})");
  EXPECT_EQ(claude("StopFailure").back(), R"({"is":"turn-end","error":"unknown"})");
}

TEST(HookSignals, a_session_that_ends_is_exiting_unless_another_follows_in_its_place) {
  const Signals exiting{R"({"is":"state","state":"exiting"})"};
  EXPECT_EQ(claude("SessionEnd", R"("reason":"prompt_input_exit")"), exiting);
  EXPECT_EQ(claude("SessionEnd", R"("reason":"clear")"), Signals{kActivity});
  EXPECT_EQ(claude("SessionEnd", R"("reason":"resume")"), Signals{kActivity});
  EXPECT_EQ(gemini("SessionEnd", R"("reason":"exit")"), exiting);
}

TEST(HookSignals, what_is_not_known_is_a_weak_sign) {
  EXPECT_EQ(claude("TeammateIdle"), Signals{kActivity});
  EXPECT_EQ(claude("BeforeTool", R"("tool_name":"x")"), Signals{kActivity}) << "gemini's";
  EXPECT_EQ(gemini("PreToolUse", R"("tool_name":"x")"), Signals{kActivity}) << "claude's";
  for (const char* input : {"", "{", "[]", "7", "null", "{}", "\xff\xfe", "{\"hook_event_name\":7}",
                            R"({"hook_event_name":"Stop")", R"({"hook_event_name":"Stop","x":})"}) {
    EXPECT_EQ(hook_signals(HookAgent::claude, input, Hearing::all), Signals{kActivity}) << input;
  }
}

TEST(HookSignals, codex_speaks_like_claude_and_its_calls_may_have_no_id) {
  EXPECT_EQ(codex("PreToolUse", R"("tool_name":"Bash","tool_use_id":"c1","turn_id":"5")"),
            Signals{R"({"is":"tool-open","id":"c1","tool":"Bash"})"});
  EXPECT_EQ(codex("PreToolUse", R"("tool_name":"Bash","turn_id":"5")"),
            Signals{R"({"is":"tool-open","id":"Bash/5","tool":"Bash"})"});
  EXPECT_EQ(codex("PostToolUse", R"("tool_name":"Bash","turn_id":"5")").back(),
            R"({"is":"tool-close","id":"Bash/5"})");
  EXPECT_EQ(codex("UserPromptSubmit"), Signals{R"({"is":"turn-start"})"});
  EXPECT_EQ(codex("PermissionRequest"), Signals{kAsked});
  EXPECT_EQ(codex("Stop").back(), R"({"is":"turn-end"})");
}

TEST(HookSignals, gemini_has_names_of_its_own) {
  EXPECT_EQ(gemini("SessionStart"), Signals{kActivity});
  EXPECT_EQ(gemini("BeforeAgent"), Signals{R"({"is":"turn-start"})"});
  EXPECT_EQ(gemini("AfterAgent"), (Signals{kAnswered, R"({"is":"turn-end"})"}));
  EXPECT_EQ(gemini("BeforeTool", R"("tool_name":"run_shell_command")"),
            Signals{R"({"is":"tool-open","id":"run_shell_command","tool":"run_shell_command"})"});
  EXPECT_EQ(gemini("AfterTool", R"("tool_name":"run_shell_command")"),
            (Signals{kAnswered, R"({"is":"tool-close","id":"run_shell_command"})"}));
  EXPECT_EQ(gemini("BeforeModel"), Signals{R"({"is":"activity","from":"tokens"})"});
  EXPECT_EQ(gemini("AfterModel"), Signals{R"({"is":"activity","from":"tokens"})"});
  EXPECT_EQ(gemini("Notification", R"("notification_type":"ToolPermission")"), Signals{kAsked});
  EXPECT_EQ(gemini("PreCompress"), Signals{R"({"is":"compact-start"})"});
}

TEST(HookSignals, beside_a_stream_only_what_the_stream_does_not_say) {
  const auto beside = [](const std::string& name, const std::string& fields = "") {
    return claude(name, fields, Hearing::beside_stream);
  };
  const std::string call = R"("tool_name":"Bash","tool_use_id":"t1")";
  EXPECT_EQ(beside("PreToolUse", call), Signals{kActivity});
  EXPECT_EQ(beside("PostToolUse", call), Signals{kActivity})
      << "no answer: it would be a real sign";
  EXPECT_EQ(beside("UserPromptSubmit"), Signals{kActivity});
  EXPECT_EQ(beside("Stop"), Signals{kActivity});
  EXPECT_EQ(beside("SessionEnd"), Signals{kActivity});
  EXPECT_EQ(beside("SubagentStart", R"("agent_id":"a7")"), Signals{kActivity});
  EXPECT_EQ(beside("Notification", R"("notification_type":"idle_prompt")"), Signals{kActivity});
  EXPECT_EQ(beside("PermissionRequest"), Signals{kAsked});
  EXPECT_EQ(beside("PreCompact"), Signals{R"({"is":"compact-start"})"});
  EXPECT_EQ(beside("PostCompact"), Signals{R"({"is":"compact-end"})"});
  const std::string question = R"("tool_name":"AskUserQuestion","tool_use_id":"q1")";
  EXPECT_EQ(beside("PreToolUse", question), Signals{R"({"is":"ask","id":"q1"})"});
  EXPECT_EQ(beside("PostToolUse", question), Signals{R"({"is":"answer","id":"q1"})"});
}

TEST(HookSignals, a_session_inside_a_session_is_no_more_than_a_weak_sign) {
  for (const std::string name : {"Stop", "SessionEnd", "UserPromptSubmit", "PermissionRequest"}) {
    EXPECT_EQ(claude(name, "", Hearing::nested), Signals{kActivity}) << name;
  }
}

TEST(HookSignals, texts_of_any_kind_stay_on_their_line) {
  EXPECT_EQ(claude("PreToolUse", R"("tool_name":"a\"b\\c\nd\u0001","tool_use_id":"ü")"),
            Signals{R"({"is":"tool-open","id":"ü","tool":"a\"b\\c?d?"})"});
  const std::string ids = R"("tool_name":"x","tool_use_id":")";
  std::string longest = std::string(199, 'x') + "ü";
  const std::string cut = R"({"is":"tool-close","id":")" + std::string(199, 'x') + "\"}";
  EXPECT_EQ(claude("PostToolUse", ids + longest + "\"").back(), cut) << "no character is torn";
}

}  // namespace
}  // namespace tend
