// What Claude Code's lines prove, beyond the recordings in test/golden: lines that no recording
// has, lines in another order, and lines that are no lines of its.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "sense/adapter_testing.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kInit = R"({"type":"system","subtype":"init","session_id":"s-1"})";
constexpr std::string_view kWeak = "activity";
constexpr std::string_view kWords =
    R"({"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"so"}]},)"
    R"("parent_tool_use_id":null})";
constexpr std::string_view kResult = R"({"type":"result","subtype":"success","is_error":false})";

std::string with_task(std::string_view task) {
  return task.empty() ? "null" : fmt::format("\"{}\"", task);
}

std::string call(std::string_view id, std::string_view tool, std::string_view input = "{}",
                 std::string_view task = "") {
  return fmt::format(
      R"({{"type":"assistant","message":{{"model":"m","content":[{{"type":"tool_use","id":"{}",)"
      R"("name":"{}","input":{}}}]}},"parent_tool_use_id":{}}})",
      id, tool, input, with_task(task));
}

std::string result_of(std::string_view id, std::string_view content = "ok",
                      std::string_view task = "") {
  return fmt::format(
      R"({{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{}",)"
      R"("content":"{}"}}]}},"parent_tool_use_id":{}}})",
      id, content, with_task(task));
}

std::string about(std::string_view subtype, std::string_view rest = "") {
  return fmt::format(R"({{"type":"system","subtype":"{}"{}}})", subtype, rest);
}

std::string started(std::string_view work, std::string_view id, std::string_view type) {
  return about("task_started", fmt::format(R"(,"task_id":"{}","tool_use_id":"{}","task_type":"{}")",
                                           work, id, type));
}

std::string status(std::string_view word) {
  return about("status", fmt::format(R"(,"status":{})", word));
}

std::string session_is(std::string_view state) {
  return about("session_state_changed", fmt::format(R"(,"state":"{}")", state));
}

/// The same line as one of the model's message of that id.
std::string in_message(std::string_view id, std::string line) {
  constexpr std::string_view kMessage = R"("message":{)";
  return line.insert(line.find(kMessage) + kMessage.size(), fmt::format(R"("id":"{}",)", id));
}

class ClaudeAdapter : public testing::Test {
 protected:
  /// Opens and closes a call; what its close was.
  std::string run(std::string_view id, std::string_view input, std::string_view content,
                  std::string_view task = "") {
    hear(call(id, "Bash", input, task));
    return hear(result_of(id, content, task));
  }

  Hearing hear{make_claude_adapter()};
};

// --- Lines that were cut short
// -----------------------------------------------------------------------------

TEST_F(ClaudeAdapter, hears_the_line_behind_one_that_was_cut_short_wherever_that_was) {
  const std::string whole = call("a", "Bash", R"({"command":"ls {\"type\":\"x\"}"})");
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    hear.adapter->begin_life();
    hear(call("b", "Bash"));
    const std::string heard = hear(whole.substr(0, cut) + result_of("b"));
    const bool may_be_within = std::string_view("[:,").contains(whole[cut - 1]);
    EXPECT_TRUE(heard.ends_with("tool-close id=b") || may_be_within) << cut << ": " << heard;
  }
}

TEST_F(ClaudeAdapter, hears_each_of_three_lines_that_came_as_one) {
  EXPECT_EQ(hear(call("a", "Bash") + call("b", "Bash") + R"({"type":"assi)" + result_of("a")),
            "tool-open id=a tool=Bash | tool-open id=b tool=Bash | activity | tool-close id=a");
}

TEST_F(ClaudeAdapter, looks_for_no_second_line_in_one_that_is_not_its_own) {
  hear(kInit);
  EXPECT_EQ(hear("DEBUG got " + std::string(kResult)), kWeak);
  EXPECT_EQ(hear("[" + std::string(kResult) + std::string(kResult) + "]"), kWeak);
  EXPECT_EQ(hear(R"( {"type":"assi)" + std::string(kResult)), "activity | turn-end");
}

// --- Results that were lost
// -----------------------------------------------------------------------------

TEST_F(ClaudeAdapter, knows_that_a_call_was_answered_when_the_model_says_something_new) {
  hear(in_message("m1", call("a", "Bash")));
  hear(in_message("m1", call("b", "Bash")));
  EXPECT_EQ(hear(in_message("m2", call("c", "Bash"))),
            "tool-close id=b | tool-close id=a | tool-open id=c tool=Bash");
  EXPECT_EQ(hear(result_of("a")), "progress") << "its result came after all";
}

TEST_F(ClaudeAdapter, takes_no_word_of_the_same_message_or_of_another_thread_for_an_answer) {
  hear(in_message("m1", call("a", "Task")));
  EXPECT_EQ(hear(in_message("m1", call("b", "Bash"))), "tool-open id=b tool=Bash");
  hear(in_message("m2", call("x", "Bash", "{}", "a")));
  EXPECT_EQ(hear(in_message("m3", call("y", "Bash", "{}", "a"))),
            "tool-close id=x task=a | tool-open id=y tool=Bash task=a");
  EXPECT_EQ(hear(result_of("b")), "tool-close id=b");
}

TEST_F(ClaudeAdapter, takes_nothing_for_an_answer_where_messages_have_no_names) {
  hear(call("a", "Bash"));
  EXPECT_EQ(hear(in_message("m2", call("b", "Bash"))), "tool-open id=b tool=Bash");
  EXPECT_EQ(hear(call("c", "Bash")), "tool-open id=c tool=Bash");
  EXPECT_EQ(hear(result_of("a")), "tool-close id=a");
}

TEST_F(ClaudeAdapter, leaves_what_runs_beside_the_turn_open_though_its_answer_was_lost) {
  hear(in_message("m1", call("b", "Bash", R"({"run_in_background":true})")));
  hear(started("w", "b", "local_bash"));
  EXPECT_EQ(hear(in_message("m2", call("c", "Bash"))), "tool-open id=c tool=Bash");
  EXPECT_EQ(hear(about("task_notification", R"(,"task_id":"w","status":"completed")")),
            "tool-close id=b");
}

TEST_F(ClaudeAdapter, holds_a_question_for_answered_when_the_model_goes_on) {
  hear(in_message("m1", call("q", "AskUserQuestion")));
  EXPECT_EQ(hear(in_message("m2", call("c", "Bash"))),
            "answer id=q | tool-close id=q | tool-open id=c tool=Bash");
}

TEST_F(ClaudeAdapter, closes_a_sub_agent_whose_end_was_lost_when_the_model_goes_on) {
  for (const std::string_view tool : {"Agent", "Task"}) {
    hear.adapter->begin_life();
    hear(kInit);
    hear(in_message("m1", call("a", tool)));
    hear(started("w", "a", "local_agent"));
    EXPECT_EQ(hear(in_message("m2", std::string(kWords))), "tool-close id=a | progress");
    EXPECT_EQ(hear(kResult), "turn-end") << "nothing runs on";
  }
}

TEST_F(ClaudeAdapter, hears_the_end_of_a_sub_agent_that_comes_after_the_model_went_on) {
  hear(kInit);
  hear(in_message("m1", call("a", "Agent")));
  hear(started("w", "a", "local_agent"));
  hear(in_message("m2", std::string(kWords)));
  EXPECT_EQ(hear(about("task_progress", R"(,"task_id":"w","tool_use_id":"a")")), "progress task=a");
  EXPECT_EQ(hear(about("task_updated", R"(,"task_id":"w","patch":{"status":"completed"})")),
            "progress task=a");
  EXPECT_EQ(hear(about("task_notification", R"(,"task_id":"w","status":"completed")")), kWeak);
  EXPECT_EQ(hear(result_of("a")), "progress");
  EXPECT_EQ(hear(kResult), "turn-end");
}

TEST_F(ClaudeAdapter, closes_a_sub_agent_by_its_answer_though_the_end_of_its_task_was_lost) {
  hear(kInit);
  hear(in_message("m1", call("a", "Agent")));
  hear(started("w", "a", "local_agent"));
  EXPECT_EQ(hear(result_of("a")), "tool-close id=a");
  EXPECT_EQ(hear(kResult), "turn-end");
  EXPECT_EQ(hear(about("task_notification", R"(,"task_id":"w","status":"completed")")),
            "progress task=a");
}

TEST_F(ClaudeAdapter, leaves_a_sub_agent_open_that_is_known_to_run_beside_the_turn) {
  const std::string launched = result_of("a", "launched");
  const std::string said_by_result = launched.substr(0, launched.size() - 1) +
                                     R"(,"tool_use_result":{"status":"async_launched"}})";
  const std::string_view moved = R"(,"task_id":"w","patch":{"is_backgrounded":true})";
  const std::string start = started("w", "a", "local_agent");
  const std::string background_start =
      about("task_started",
            R"(,"task_id":"w","tool_use_id":"a","task_type":"local_agent","is_backgrounded":true)");
  const std::string asked = call("a", "Agent", R"({"run_in_background":true})");
  const std::string plain = call("a", "Agent");
  for (const auto& lines : {std::array{asked, start, std::string()},
                            {plain, background_start, std::string()},
                            {plain, start, about("task_updated", moved)},
                            {plain, start, said_by_result}}) {
    hear.adapter->begin_life();
    hear(kInit);
    hear(in_message("m1", lines[0]));
    hear(lines[1]);
    if (!lines[2].empty()) hear(lines[2]);
    EXPECT_EQ(hear(in_message("m2", std::string(kWords))), "progress") << lines[2];
    EXPECT_EQ(hear(kResult), "tool-open id=a tool=Agent background | turn-end count=1");
    EXPECT_EQ(hear(about("task_notification", R"(,"task_id":"w","status":"completed")")),
              "tool-close id=a");
  }
}

TEST_F(ClaudeAdapter, takes_no_new_name_of_a_message_for_an_answer_where_each_line_has_its_own) {
  const auto line_named = [](std::string_view id, std::string line) {
    line.insert(line.size() - 1, fmt::format(R"(,"uuid":"{}")", id));
    return in_message(id, std::move(line));
  };
  hear(line_named("u1", call("a", "Bash")));
  EXPECT_EQ(hear(line_named("u2", std::string(kWords))), "progress");
  EXPECT_EQ(hear(result_of("a")), "tool-close id=a");
}

// --- Going in circles
// -----------------------------------------------------------------------------

TEST_F(ClaudeAdapter, counts_identical_calls_with_identical_results) {
  EXPECT_EQ(run("a", R"({"command":"ls"})", "x"), "tool-close id=a");
  EXPECT_EQ(run("b", R"({"command":"ls"})", "x"), "tool-close id=b same=2");
  EXPECT_EQ(run("c", R"({"command":"ls"})", "x"), "tool-close id=c same=3");
}

TEST_F(ClaudeAdapter, begins_to_count_anew_when_input_or_result_change) {
  run("a", R"({"command":"ls"})", "x");
  EXPECT_EQ(run("b", R"({"command":"ls"})", "x"), "tool-close id=b same=2");
  EXPECT_EQ(run("c", R"({"command":"ls"})", "y"), "tool-close id=c");
  EXPECT_EQ(run("d", R"({"command":"ls -l"})", "y"), "tool-close id=d");
  EXPECT_EQ(run("e", R"({"command":"ls"})", "x"), "tool-close id=e") << "not in a row any more";
}

TEST_F(ClaudeAdapter, counts_another_tool_with_the_same_input_as_another_call) {
  run("a", "{}", "x");
  hear(call("b", "Read", "{}"));
  EXPECT_EQ(hear(result_of("b", "x")), "tool-close id=b");
}

TEST_F(ClaudeAdapter, counts_the_lead_and_each_sub_agent_apart) {
  EXPECT_EQ(run("a1", "{}", "x"), "tool-close id=a1");
  EXPECT_EQ(run("s1", "{}", "x", "sub"), "tool-close id=s1 task=sub");
  EXPECT_EQ(run("t1", "{}", "x", "other"), "tool-close id=t1 task=other");
  EXPECT_EQ(run("a2", "{}", "x"), "tool-close id=a2 same=2");
  EXPECT_EQ(run("s2", "{}", "x", "sub"), "tool-close id=s2 same=2 task=sub");
}

// --- Questions
// ------------------------------------------------------------------------------------

TEST_F(ClaudeAdapter, hears_a_question_of_the_lead_and_its_answer) {
  EXPECT_EQ(hear(call("q", "AskUserQuestion")), "tool-open id=q tool=AskUserQuestion | ask id=q");
  EXPECT_EQ(hear(result_of("q")), "answer id=q | tool-close id=q");
  EXPECT_EQ(hear(call("p", "ExitPlanMode")), "tool-open id=p tool=ExitPlanMode | ask id=p");
}

TEST_F(ClaudeAdapter, knows_that_a_sub_agent_cannot_ask_a_person) {
  EXPECT_EQ(hear(call("q", "AskUserQuestion", "{}", "sub")),
            "tool-open id=q tool=AskUserQuestion task=sub");
  EXPECT_EQ(hear(result_of("q", "no", "sub")), "tool-close id=q task=sub");
}

TEST_F(ClaudeAdapter, hears_a_request_for_leave_and_that_it_was_taken_back) {
  EXPECT_EQ(hear(R"({"type":"control_request","request_id":"r1",)"
                 R"("request":{"subtype":"can_use_tool","tool_name":"Bash"}})"),
            "ask id=r1");
  const auto remarks = hear.adapter->take_remarks();
  ASSERT_EQ(remarks.size(), 1U);
  EXPECT_EQ(remarks[0], "it asks whether it may use 'Bash': its host has to answer request 'r1'");
  EXPECT_EQ(hear(R"({"type":"control_cancel_request","request_id":"r1"})"), "answer id=r1");
}

TEST_F(ClaudeAdapter, takes_other_requests_for_a_weak_sign) {
  EXPECT_EQ(hear(R"({"type":"control_request","request_id":"r","request":{"subtype":"x"}})"),
            kWeak);
  EXPECT_EQ(hear(R"({"type":"control_request","request":{"subtype":"can_use_tool"}})"), kWeak);
  EXPECT_EQ(hear(R"({"type":"control_cancel_request"})"), kWeak);
  EXPECT_TRUE(hear.adapter->take_remarks().empty());
}

TEST_F(ClaudeAdapter, hears_that_the_session_waits_for_somebody) {
  hear(kInit);
  EXPECT_EQ(hear(session_is("requires_action")), "ask id=session");
  EXPECT_EQ(hear(session_is("running")), "answer id=session | activity");
  EXPECT_EQ(hear(session_is("running")), kWeak);
}

TEST_F(ClaudeAdapter, hears_turns_from_the_state_of_the_session) {
  EXPECT_EQ(hear(session_is("running")), kWeak) << "before the first turn";
  hear(kInit);
  EXPECT_EQ(hear(session_is("idle")), "turn-end");
  EXPECT_EQ(hear(session_is("idle")), kWeak);
  EXPECT_EQ(hear(session_is("running")), "turn-start");
  EXPECT_EQ(hear(session_is("idle")), "turn-end");
}

// --- Compaction
// -----------------------------------------------------------------------------------

TEST_F(ClaudeAdapter, hears_a_compaction_from_its_status) {
  EXPECT_EQ(hear(status("\"compacting\"")), "compact-start");
  EXPECT_EQ(hear(status("\"compacting\"")), kWeak);
  EXPECT_EQ(hear(status("null")), "compact-end");
  EXPECT_EQ(hear(status("null")), kWeak);
  EXPECT_EQ(hear(status("\"requesting\"")), kWeak);
}

TEST_F(ClaudeAdapter, hears_a_compaction_from_its_boundary_alone) {
  EXPECT_EQ(hear(about("compact_boundary")), "compact-start | compact-end");
}

TEST_F(ClaudeAdapter, ends_a_compaction_at_its_boundary_once) {
  hear(status("\"compacting\""));
  EXPECT_EQ(hear(about("compact_boundary")), "compact-end");
  EXPECT_EQ(hear(status("null")), kWeak);
}

TEST_F(ClaudeAdapter, hears_the_next_compaction_after_one_that_the_turn_cut_off) {
  hear(kInit);
  hear(status("\"compacting\""));
  hear(kResult);
  hear(kInit);
  EXPECT_EQ(hear(status("\"compacting\"")), "compact-start");
}

// --- The provider
// ---------------------------------------------------------------------------------

constexpr std::string_view kRejected =
    R"({"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1790000100}})";

TEST_F(ClaudeAdapter, knows_when_a_limit_ends_where_the_time_of_day_is_known) {
  EXPECT_EQ(hear(kRejected), "retry cause=rate");
  hear.seen.wall = WallTime{1'790'000'040s};
  EXPECT_EQ(hear(kRejected), "retry until=60 cause=rate");
  hear.seen.wall = WallTime{1'790'000'400s};
  EXPECT_EQ(hear(kRejected), "retry until=0 cause=rate") << "it is over already";
}

TEST_F(ClaudeAdapter, hears_of_spent_credits_and_of_limits_that_are_far) {
  EXPECT_EQ(hear(R"({"type":"rate_limit_event","rate_limit_info":)"
                 R"({"status":"rejected","errorCode":"credits_required"}})"),
            "retry cause=quota");
  EXPECT_EQ(hear(R"({"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning"}})"),
            kWeak);
}

TEST_F(ClaudeAdapter, believes_no_wait_beyond_30_days) {
  EXPECT_EQ(hear(about("api_retry", R"(,"retry_delay_ms":1e300,"error_status":1e300)")),
            "retry until=2592000 cause=network");
  EXPECT_EQ(hear(about("api_retry", R"(,"retry_delay_ms":-5,"error_status":418)")),
            "retry until=0 cause=overload");
  EXPECT_EQ(hear(call("t", "Bash", R"({"timeout":1e300})")),
            "tool-open id=t tool=Bash limit=2592000");
}

TEST_F(ClaudeAdapter, hears_the_retry_of_a_sub_agent) {
  hear(call("p", "Agent"));
  EXPECT_EQ(hear(R"({"type":"tool_progress","tool_use_id":"x","parent_tool_use_id":"p",)"
                 R"("subagent_retry":{"retry_delay_ms":1500,"error_status":529}})"),
            "retry until=1.5 cause=overload task=p");
  EXPECT_EQ(hear(R"({"type":"tool_progress","parent_tool_use_id":"p","subagent_retry":{}})"),
            "retry cause=network task=p");
}

TEST_F(ClaudeAdapter, takes_its_own_words_for_an_error_only_if_they_tell_of_one) {
  const auto own = [](std::string_view text) {
    return fmt::format(R"({{"type":"assistant","message":{{"model":"<synthetic>","content":[)"
                       R"({{"type":"text","text":"{}"}}]}}}})",
                       text);
  };
  EXPECT_EQ(hear(own("No response requested.")), kWeak);
  EXPECT_EQ(hear(own("API Error: 529 ...")), "error cause=overload final");
  EXPECT_FALSE(hear.conversation().said_something);
}

TEST_F(ClaudeAdapter, does_not_take_a_full_answer_for_the_end) {
  EXPECT_EQ(hear(R"({"type":"assistant","error":"max_output_tokens","message":{"content":[]}})"),
            "error cause=max_output_tokens (another)");
  EXPECT_EQ(hear(R"({"type":"assistant","error":"invalid_request","message":{"content":[]}})"),
            "error cause=invalid_request (another) final");
  EXPECT_EQ(hear(R"({"type":"assistant","error":"rate_limit","parent_tool_use_id":"p",)"
                 R"("message":{"content":[]}})"),
            "error cause=rate task=p")
      << "the lead goes on without its sub-agent";
}

TEST_F(ClaudeAdapter, ends_a_failed_turn_with_what_its_own_words_said) {
  hear(kInit);
  hear(R"({"type":"assistant","error":"billing_error","message":{"content":[]}})");
  EXPECT_EQ(hear(R"({"type":"result","subtype":"success","is_error":true})"),
            "turn-end cause=quota");
  EXPECT_TRUE(hear.conversation().failed);
  hear(kInit);
  EXPECT_EQ(hear(R"({"type":"result","subtype":"error_max_turns"})"),
            "turn-end cause=max_turns (another)");
  hear(kInit);
  EXPECT_EQ(hear(R"({"type":"result","is_error":true,"terminal_reason":"none"})"),
            "turn-end cause=none (another)");
  hear(kInit);
  EXPECT_EQ(hear(kResult), "turn-end");
  EXPECT_FALSE(hear.conversation().failed);
}

TEST_F(ClaudeAdapter, hears_an_error_that_is_not_the_end) {
  EXPECT_EQ(hear(R"({"type":"error","error":{"message":"Overloaded"}})"), "error cause=overload");
  EXPECT_EQ(hear(R"({"type":"error"})"), "error cause=another (another)");
}

// --- Calls and what runs behind them
// --------------------------------------------------------------

TEST_F(ClaudeAdapter, closes_what_is_no_longer_in_the_background) {
  hear(call("b1", "Bash", R"({"run_in_background":true})"));
  hear(started("w1", "b1", "local_bash"));
  hear(call("b2", "Bash", R"({"run_in_background":true})"));
  hear(started("w2", "b2", "local_bash"));
  EXPECT_EQ(hear(result_of("b1")), "progress");
  EXPECT_EQ(hear(result_of("b2")), "progress");
  EXPECT_EQ(hear(about("background_tasks_changed", R"(,"tasks":[{"task_id":"w1"},{"id":"w2"}])")),
            kWeak);
  EXPECT_EQ(hear(about("background_tasks_changed", R"(,"tasks":[{"task_id":"w2"}])")),
            "tool-close id=b1");
  EXPECT_EQ(hear(kResult), "turn-end count=1");
  EXPECT_EQ(hear(about("background_tasks_changed", R"(,"tasks":[])")), "tool-close id=b2");
  EXPECT_EQ(hear(about("background_tasks_changed", R"(,"tasks":[])")), kWeak);
}

TEST_F(ClaudeAdapter, sees_a_command_move_to_the_background_at_its_timeout) {
  hear(call("t", "Bash"));
  EXPECT_EQ(hear(started("w", "t", "local_bash")), "tool-beat id=t");
  EXPECT_EQ(hear(result_of("t", "moved")), "tool-close id=t | tool-open id=w tool=Bash background");
  EXPECT_EQ(hear(about("task_progress", R"(,"task_id":"w","tool_use_id":"t")")), "tool-beat id=w");
  EXPECT_EQ(hear(kResult), "turn-end count=1");
  EXPECT_EQ(hear(about("task_updated", R"(,"task_id":"w","patch":{"status":"running"})")), kWeak);
  EXPECT_EQ(hear(about("task_updated", R"(,"task_id":"w","patch":{"status":"failed"})")),
            "tool-close id=w");
  EXPECT_EQ(hear(about("task_notification", R"(,"task_id":"w","status":"failed")")), kWeak);
}

TEST_F(ClaudeAdapter, opens_a_sub_agent_that_outlives_the_turn_in_the_background) {
  hear(kInit);
  hear(call("a", "Agent", R"({"run_in_background":true})"));
  hear(started("w", "a", "local_agent"));
  EXPECT_EQ(hear(result_of("a", "launched")), "progress");
  EXPECT_EQ(hear(kResult), "tool-open id=a tool=Agent background | turn-end count=1");
  EXPECT_EQ(hear(about("task_notification", R"(,"task_id":"w","status":"stopped")")),
            "tool-close id=a");
}

TEST_F(ClaudeAdapter, does_not_listen_to_housekeeping) {
  EXPECT_EQ(hear(about("task_started", R"(,"task_id":"w","ambient":true)")), "");
  EXPECT_EQ(hear(about("task_progress", R"(,"task_id":"w","ambient":true)")), "");
  EXPECT_EQ(hear(about("task_notification", R"(,"task_id":"w","status":"completed")")), kWeak);
}

TEST_F(ClaudeAdapter, finds_the_call_of_a_tool_progress_by_either_id) {
  const std::string own =
      R"({"type":"tool_progress","tool_use_id":"t","parent_tool_use_id":null,"heartbeat":true})";
  const std::string parents =
      R"({"type":"tool_progress","tool_use_id":"inner","parent_tool_use_id":"t"})";
  EXPECT_EQ(hear(own), kWeak);
  hear(call("t", "Bash"));
  EXPECT_EQ(hear(own), "tool-beat id=t");
  EXPECT_EQ(hear(parents), "tool-beat id=t");
  hear(result_of("t"));
  EXPECT_EQ(hear(parents), kWeak);
}

TEST_F(ClaudeAdapter, opens_all_calls_of_one_line) {
  EXPECT_EQ(hear(R"({"type":"assistant","message":{"content":[{"type":"text","text":"x"},)"
                 R"({"type":"tool_use","id":"a","name":"Bash","input":{"timeout":5000}},"junk",)"
                 R"({"type":"tool_use","id":"b","name":"Read","input":{}}]}})"),
            "progress | tool-open id=a tool=Bash limit=5 | tool-open id=b tool=Read");
  EXPECT_TRUE(hear.conversation().said_something);
}

TEST_F(ClaudeAdapter, takes_the_answer_to_an_unknown_call_for_progress) {
  EXPECT_EQ(hear(result_of("never")), "progress");
  EXPECT_EQ(hear(result_of("never", "x", "sub")), "progress task=sub");
  EXPECT_EQ(hear.conversation().tools, 0U);
}

TEST_F(ClaudeAdapter, unescapes_names_and_does_not_confuse_them) {
  EXPECT_EQ(hear(call(R"(\u0061\"b)", "Bash")), "tool-open id=a\"b tool=Bash");
  EXPECT_EQ(hear(result_of(R"(a\u0022b)")), "tool-close id=a\"b");
}

// --- What people should know
// ----------------------------------------------------------------------

TEST_F(ClaudeAdapter, counts_what_nobody_was_there_to_allow_and_says_it_once) {
  hear(kInit);
  EXPECT_EQ(hear(about("permission_denied", R"(,"tool_name":"Write")")), kWeak);
  EXPECT_EQ(hear(R"({"type":"result","subtype":"success","permission_denials":[)"
                 R"({"tool_name":"Bash"},{"tool_name":"Bash"},{"tool_name":"Edit"}]})"),
            "turn-end");
  EXPECT_EQ(hear.conversation().denied, 3U);
  const auto remarks = hear.adapter->take_remarks();
  ASSERT_EQ(remarks.size(), 3U);
  EXPECT_TRUE(remarks[0].starts_with("'Write' was not allowed")) << remarks[0];
  EXPECT_TRUE(remarks[1].starts_with("'Bash' was not allowed")) << remarks[1];
  EXPECT_TRUE(remarks[2].starts_with("'Edit' was not allowed")) << remarks[2];
  EXPECT_TRUE(hear.adapter->take_remarks().empty());
}

TEST_F(ClaudeAdapter, stops_remarking_after_twenty) {
  for (int i = 0; i < 50; ++i) {
    hear(about("permission_denied", fmt::format(R"(,"tool_name":"t{}")", i)));
  }
  EXPECT_EQ(hear.adapter->take_remarks().size(), 20U);
  hear(about("permission_denied", R"(,"tool_name":"late")"));
  EXPECT_TRUE(hear.adapter->take_remarks().empty());
  hear.adapter->begin_life();
  hear(about("permission_denied", R"(,"tool_name":"late")"));
  EXPECT_EQ(hear.adapter->take_remarks().size(), 1U);
}

TEST_F(ClaudeAdapter, learns_the_session_and_that_it_is_unknown) {
  hear(kInit);
  EXPECT_EQ(hear.conversation().session, "s-1");
  hear.adapter->begin_life();
  EXPECT_EQ(hear(R"({"type":"result","subtype":"error_during_execution","is_error":true,)"
                 R"("errors":["No conversation found with session ID: s-1"]})"),
            "error cause=during_execution (another) final");
  EXPECT_TRUE(hear.conversation().session_unknown);
}

// --- A life
// ---------------------------------------------------------------------------------------

TEST_F(ClaudeAdapter, forgets_everything_with_the_life) {
  hear(kInit);
  run("a", "{}", "x");
  hear(status("\"compacting\""));
  hear(session_is("requires_action"));
  hear(call("open", "Bash", R"({"run_in_background":true})"));
  hear(started("w", "nested", "local_agent"));
  hear.adapter->begin_life();
  EXPECT_EQ(hear(result_of("open")), "progress");
  EXPECT_EQ(hear(status("null")), kWeak);
  EXPECT_EQ(hear(session_is("running")), kWeak);
  EXPECT_EQ(hear(about("task_notification", R"(,"task_id":"w","status":"completed")")), kWeak);
  EXPECT_EQ(run("b", "{}", "x"), "tool-close id=b");
  EXPECT_EQ(hear.conversation().session, "");
  EXPECT_EQ(hear(kInit), "turn-start");
  EXPECT_EQ(hear(kResult), "turn-end");
}

// --- What it never said
// ---------------------------------------------------------------------------

TEST_F(ClaudeAdapter, takes_what_is_no_line_of_its_for_a_weak_sign) {
  using namespace std::string_literals;
  for (const std::string& line :
       {"Segmentation fault"s, "{"s, R"({"type":"assist)"s, R"({"type":"result")"s, "\0\0\0"s,
        "{\0\"type\":\"result\"}"s, "{\"type\":\"\xff\xfe\"}"s, "[]"s, "null"s, "17"s, "\"type\""s,
        "{}"s, R"({"type":"brand_new"})"s, R"({"type":7})"s, R"({"subtype":"init"})"s,
        std::string(100'000, '['), std::string(100'000, '{')}) {
    EXPECT_EQ(hear(line), kWeak) << line.substr(0, 40);
  }
  for (const std::string& line : {""s, "   "s, "\t\r"s}) EXPECT_EQ(hear(line), "") << line;
}

TEST_F(ClaudeAdapter, survives_deep_nesting_wherever_it_stands) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(hear(fmt::format(R"({{"x":{},"type":"system","subtype":"init"}})", deep)),
            "turn-start");
  EXPECT_EQ(hear(call("t", "Bash", deep)), "tool-open id=t tool=Bash");
  EXPECT_EQ(hear(fmt::format(R"({{"type":"user","message":{{"content":{}}}}})", deep)), kWeak);
}

TEST_F(ClaudeAdapter, survives_every_field_with_a_value_of_another_type) {
  constexpr std::array<std::string_view, 19> kLines{
      R"({"type":"system","subtype":"init","session_id":@})",
      R"({"type":"stream_event","event":@,"parent_tool_use_id":@})",
      R"({"type":"stream_event","event":{"type":@},"parent_tool_use_id":@})",
      R"({"type":"stream_event","event":{"type":"content_block_start","content_block":@},"parent_tool_use_id":@})",
      R"({"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":@}}})",
      R"({"type":"assistant","message":@,"parent_tool_use_id":@,"error":@})",
      R"({"type":"assistant","message":{"model":@,"content":@}})",
      R"({"type":"assistant","message":{"content":[@,{"type":"tool_use","id":@,"name":@,"input":@}]}})",
      R"({"type":"assistant","message":{"content":[{"type":"tool_use","id":"i","name":@,"input":{"timeout":@,"run_in_background":@}}]}})",
      R"({"type":"user","message":{"content":[@,{"type":"tool_result","tool_use_id":@,"content":@}]}})",
      R"({"type":"system","subtype":"task_started","task_id":@,"tool_use_id":@,"task_type":@,"ambient":@})",
      R"({"type":"system","subtype":"task_updated","task_id":@,"status":@,"patch":@})",
      R"({"type":"system","subtype":"background_tasks_changed","tasks":@})",
      R"({"type":"system","subtype":"status","status":@})",
      R"({"type":"system","subtype":"session_state_changed","state":@})",
      R"({"type":"system","subtype":"api_retry","retry_delay_ms":@,"error_status":@})",
      R"({"type":"tool_progress","tool_use_id":@,"parent_tool_use_id":@,"subagent_retry":@})",
      R"({"type":"rate_limit_event","rate_limit_info":@})",
      R"({"type":"result","subtype":@,"is_error":@,"api_error_status":@,"terminal_reason":@,"result":@,"errors":@,"permission_denials":@,"session_id":@})",
  };
  for (const std::string_view line : kLines) {
    for (const std::string_view value :
         {"7", "-1e300", "true", "null", "[]", "[[1,2],[3]]", "{}", R"({"a":{"b":[]}})",
          R"("\ud83d\ude00")", "\"\"", "nonsense", "\"\\q\"", "18446744073709551616"}) {
      std::string text(line);
      for (std::size_t at = 0; (at = text.find('@', at)) != text.npos;) text.replace(at, 1, value);
      EXPECT_LE(hear.count(text), 4U) << text;
    }
  }
  hear.adapter->begin_life();
  EXPECT_EQ(hear(kInit), "turn-start") << "and is whole";
}

// --- Bounds
// ---------------------------------------------------------------------------------------

TEST_F(ClaudeAdapter, hears_a_line_of_16_MB) {
  EXPECT_EQ(
      hear(call("t", "Write", fmt::format(R"({{"content":"{}"}})", std::string(16'000'000, 'x')))),
      "tool-open id=t tool=Write");
  EXPECT_EQ(hear(result_of("t", std::string(16'000'000, 'y'))), "tool-close id=t");
  EXPECT_EQ(hear(call("u", "Write")), "tool-open id=u tool=Write") << "and short ones after it";
}

TEST_F(ClaudeAdapter, cuts_long_ids_and_still_tells_them_apart) {
  const std::string one = std::string(10'000, 'i') + "1";
  const std::string two = std::string(10'000, 'i') + "2";
  const std::string opened = hear(call(one, "Bash"));
  EXPECT_LT(opened.size(), 400U);
  EXPECT_NE(hear(call(two, "Bash")), opened);
  EXPECT_EQ(hear(result_of(one)), "tool-close" + opened.substr(9, opened.find(" tool=") - 9));
  EXPECT_EQ(hear(result_of(one)), "progress");
  EXPECT_TRUE(hear(result_of(two)).starts_with("tool-close"));
}

TEST_F(ClaudeAdapter, cuts_a_long_id_between_letters) {
  for (int pad = 0; pad < 4; ++pad) {
    std::string id(static_cast<std::size_t>(pad), 'x');
    for (int i = 0; i < 200; ++i) id += "\xf0\x9f\x98\x80";
    const std::string opened = hear(call(id, "Bash"));
    const std::string kept = opened.substr(13, opened.find('#') - 13);
    EXPECT_EQ((kept.size() - static_cast<std::size_t>(pad)) % 4, 0U) << opened;
    EXPECT_TRUE(id.starts_with(kept)) << opened;
  }
}

TEST_F(ClaudeAdapter, reads_a_long_escaped_task_without_running_out_of_room) {
  const std::string work = R"(\n)" + std::string(100'000, 'w');
  EXPECT_TRUE(hear(started(work, "", "local_agent")).starts_with("progress task=\n"));
  EXPECT_TRUE(hear(started(work, "t", "local_agent")).starts_with("progress task=t"));
}

TEST_F(ClaudeAdapter, forgets_the_oldest_of_ten_thousand_open_calls) {
  for (int i = 0; i < 10'000; ++i) hear(call(fmt::format("t{}", i), "Bash"));
  EXPECT_EQ(hear(result_of("t0")), "progress");
  EXPECT_EQ(hear(result_of("t9999")), "tool-close id=t9999");
  EXPECT_EQ(hear(result_of("t9500", "x")), "tool-close id=t9500");
}

TEST_F(ClaudeAdapter, looks_at_a_bounded_number_of_blocks) {
  std::string blocks = R"({"type":"tool_use","id":"t","name":"Bash","input":{}})";
  for (int i = 0; i < 14; ++i) blocks += "," + blocks;
  const std::string line =
      fmt::format(R"({{"type":"assistant","message":{{"content":[{}]}}}})", blocks);
  EXPECT_EQ(hear.count(line), 1024U);
  EXPECT_EQ(hear(kInit), "turn-start");
}

TEST_F(ClaudeAdapter, S26_hears_no_limit_where_the_model_only_talks_of_one) {
  const std::string talk = "API Error: 429 rate limit reached, invalid API key, overloaded";
  EXPECT_EQ(
      hear(R"({"type":"assistant","message":{"model":"m","content":[{"type":"text","text":")" +
           talk + R"("}]},"parent_tool_use_id":null})"),
      "progress");
  hear(call("t1", "Bash"));
  EXPECT_EQ(hear(result_of("t1", talk)), "tool-close id=t1");
  EXPECT_EQ(
      hear(R"({"type":"result","subtype":"success","is_error":false,"result":")" + talk + R"("})"),
      "turn-end");
  EXPECT_FALSE(hear.conversation().failed);
}

}  // namespace
}  // namespace tend
