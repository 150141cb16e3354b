// Claude Code's stream-json, Codex' exec --json, Gemini's stream-json, OpenCode's json, and lines
// of any program.
#include "voice.h"

#include <initializer_list>
#include <utility>

#include <fmt/format.h>

namespace tend::sim {
namespace {

double calendar(WallTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}
std::int64_t milliseconds(Duration time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

/// Many times as fast as a format: what an agent says all the time is put together by it.
std::string joined(std::initializer_list<std::string_view> parts) {
  std::size_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  std::string whole;
  whole.reserve(size);
  for (const std::string_view part : parts) whole += part;
  return whole;
}

class ClaudeSpeech final : public Speech {
 public:
  std::string begin(std::string_view session) override {
    session_ = session;
    return fmt::format(R"({{"type":"system","subtype":"init","session_id":"{}"}})"
                       "\n",
                       session_);
  }
  std::string say(std::uint64_t n) override { return assistant(text(n), ""); }
  std::string open(const std::string& call, Duration declared) override {
    return assistant(
        tool(call, "Bash",
             declared > Duration::zero()
                 ? fmt::format(R"("command":"make {}","timeout":{})", call, milliseconds(declared))
                 : joined({R"("command":"make )", call, "\""})),
        "");
  }
  std::string close(const std::string& call) override {
    return joined(
        {R"({"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":")",
         call, R"(","content":"done )", call, R"("}]},"parent_tool_use_id":null})", "\n"});
  }
  std::string open_subagent(const std::string& call) override {
    return assistant(tool(call, "Agent", R"("prompt":"look into it")"), "") +
           fmt::format(
               R"({{"type":"system","subtype":"task_started","task_id":"w-{0}","tool_use_id":"{0}","task_type":"local_agent"}})"
               "\n",
               call);
  }
  std::string close_subagent(const std::string& call) override {
    return fmt::format(
               R"({{"type":"system","subtype":"task_updated","task_id":"w-{0}","patch":{{"status":"completed"}}}})"
               "\n"
               R"({{"type":"system","subtype":"task_notification","task_id":"w-{0}","tool_use_id":"{0}","status":"completed"}})"
               "\n",
               call) +
           close(call);
  }
  std::string say_as_subagent(const std::string& call, std::uint64_t n) override {
    return assistant(text(n), call);
  }
  std::string open_background(const std::string& call) override {
    const std::string opened =
        assistant(tool(call, "Bash", R"("command":"make all","run_in_background":true)"), "");
    return opened +
           fmt::format(
               R"({{"type":"system","subtype":"task_started","task_id":"w-{0}","tool_use_id":"{0}","task_type":"local_bash"}})"
               "\n",
               call) +
           close(call) + say(0) + end_turn();
  }
  std::string wake_from_background(const std::string& call) override {
    return fmt::format(
               R"({{"type":"system","subtype":"task_notification","task_id":"w-{}","status":"completed"}})"
               "\n",
               call) +
           begin(session_);
  }
  std::string begin_compaction() override {
    return R"({"type":"system","subtype":"status","status":"compacting"})"
           "\n";
  }
  std::string end_compaction() override {
    return R"({"type":"system","subtype":"compact_boundary"})"
           "\n";
  }
  std::string hold_until(WallTime until) override {
    return fmt::format(
        R"({{"type":"rate_limit_event","rate_limit_info":{{"status":"rejected","resetsAt":{:.0f}}}}})"
        "\n",
        calendar(until));
  }
  std::string hold(Duration retry) override {
    return fmt::format(
        R"({{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":{},"error_status":529}})"
        "\n",
        milliseconds(retry));
  }
  std::string retry(int n, Duration wait, int status) override {
    return fmt::format(
        R"({{"type":"system","subtype":"api_retry","attempt":{},"max_retries":10,"retry_delay_ms":{},"error_status":{},"error":"{}"}})"
        "\n",
        n, milliseconds(wait), status, word_of(status));
  }
  std::string give_up(std::optional<int> status) override {
    return fmt::format(
        R"({{"type":"assistant","message":{{"id":"g{0}","model":"<synthetic>","role":"assistant","content":[{{"type":"text","text":"API Error: {1}"}}]}},"parent_tool_use_id":null,"error":"{2}"}})"
        "\n"
        R"({{"type":"result","subtype":"success","is_error":true,"api_error_status":{3},"result":"API Error: {1}","terminal_reason":"api_error","permission_denials":[{4}]}})"
        "\n",
        ++messages_, status ? fmt::format("{} scripted", *status) : "The operation timed out.",
        word_of(status), status ? std::to_string(*status) : "null", denials_);
  }
  std::string break_off() override {
    return fmt::format(
        R"({{"type":"result","subtype":"error_during_execution","is_error":true,"errors":[],"terminal_reason":"aborted_tools","permission_denials":[{}]}})"
        "\n",
        denials_);
  }
  std::string deny(const std::string& call) override {
    denials_ += fmt::format(R"({}{{"tool_name":"Bash","tool_use_id":"{}","tool_input":{{}}}})",
                            denials_.empty() ? "" : ",", call);
    return open(call, {}) +
           fmt::format(
               R"({{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{}","is_error":true,"content":"This command requires approval"}}]}},"parent_tool_use_id":null}})"
               "\n",
               call);
  }
  std::string ask(const std::string& call) override {
    return fmt::format(
        R"({{"type":"control_request","request_id":"{}","request":{{"subtype":"can_use_tool","tool_name":"Bash"}}}})"
        "\n",
        call);
  }
  std::string chatter(std::uint64_t n) override {
    const std::string call = fmt::format("again-{}", n);
    const std::string begun = begin_answer(call);
    return R"({"type":"stream_event","event":{"type":"ping"}})"
           "\n" +
           begun + assistant(tool(call, "Bash", R"("command":"make test")"), "") + end_answer() +
           fmt::format(
               R"({{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"{}","content":"no such target"}}]}},"parent_tool_use_id":null}})"
               "\n",
               call);
  }
  std::string end_turn() override {
    if (denials_.empty()) {
      return R"({"type":"result","subtype":"success","is_error":false})"
             "\n";
    }
    return fmt::format(
        R"({{"type":"result","subtype":"success","is_error":false,"permission_denials":[{}]}})"
        "\n",
        std::exchange(denials_, ""));
  }

 private:
  static std::string_view word_of(std::optional<int> status) {
    if (!status) return "unknown";
    if (*status == 429) return "rate_limit";
    return *status == 529 ? "overloaded" : "server_error";
  }
  static std::string text(std::uint64_t n) {
    return joined({R"({"type":"text","text":"words )", std::to_string(n), R"("})"});
  }
  static std::string tool(const std::string& call, std::string_view name, std::string_view input) {
    return joined({R"({"type":"tool_use","id":")", call, R"(","name":")", name, R"(","input":{)",
                   input, "}}"});
  }
  /// What is told of the model's answer while it comes, up to the whole call and after it.
  std::string begin_answer(const std::string& call) {
    return joined(
        {R"({"type":"system","subtype":"status","status":"requesting"})", "\n",
         part(joined({R"({"type":"message_start","message":{"id":"m)",
                      std::to_string(messages_ + 1), R"(","role":"assistant","content":[]}})"})),
         part(joined({R"({"type":"content_block_start","index":0,"content_block":)",
                      tool(call, "Bash", ""), "}"})),
         part(input_part(R"({\"command\": )")), part(input_part(R"(\"make test\"})"))});
  }
  static std::string end_answer() {
    return joined({part(R"({"type":"content_block_stop","index":0})"),
                   part(R"({"type":"message_delta","delta":{"stop_reason":"tool_use"}})"),
                   part(R"({"type":"message_stop"})")});
  }
  static std::string input_part(std::string_view json) {
    return joined(
        {R"({"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":")",
         json, R"("}})"});
  }
  static std::string part(std::string_view event) {
    return joined(
        {R"({"type":"stream_event","event":)", event, R"(,"parent_tool_use_id":null})", "\n"});
  }
  std::string assistant(std::string_view block, const std::string& of) {
    const std::string_view quote = of.empty() ? "" : "\"";
    const std::string number = std::to_string(++messages_);
    return joined({R"({"type":"assistant","message":{"id":"m)", number, R"(","content":[)", block,
                   R"(]},"parent_tool_use_id":)", quote, of.empty() ? std::string_view("null") : of,
                   quote, "}\n"});
  }

  std::string session_;
  std::uint64_t messages_ = 0;  // of the model, each with a name of its own
  std::string denials_;         // of this turn
};

class CodexSpeech final : public Speech {
 public:
  std::string begin(std::string_view session) override {
    return fmt::format(R"({{"type":"thread.started","thread_id":"{}"}})"
                       "\n"
                       R"({{"type":"turn.started"}})"
                       "\n",
                       session);
  }
  std::string say(std::uint64_t n) override {
    return fmt::format(
        R"({{"type":"item.completed","item":{{"id":"m{0}","type":"agent_message","text":"words {0}"}}}})"
        "\n",
        n);
  }
  std::string open(const std::string& call, Duration /*declared*/) override {
    return fmt::format(
        R"({{"type":"item.started","item":{{"id":"{0}","type":"command_execution","command":"make {0}","status":"in_progress"}}}})"
        "\n",
        call);
  }
  std::string close(const std::string& call) override {
    return fmt::format(
        R"({{"type":"item.completed","item":{{"id":"{0}","type":"command_execution","command":"make {0}","aggregated_output":"done {0}","exit_code":0,"status":"completed"}}}})"
        "\n",
        call);
  }
  std::string open_subagent(const std::string& call) override { return open(call, {}); }
  std::string say_as_subagent(const std::string& /*call*/, std::uint64_t n) override {
    return say(n);
  }
  std::string open_background(const std::string& call) override { return open(call, {}) + say(0); }
  std::string wake_from_background(const std::string& call) override { return close(call); }
  std::string hold_until(WallTime /*until*/) override { return hold({}); }
  std::string hold(Duration /*retry*/) override {
    return R"_({"type":"error","message":"Reconnecting... 1/5 (429 Too Many Requests)"})_"
           "\n";
  }
  std::string retry(int n, Duration /*wait*/, int /*status*/) override {
    return fmt::format(R"_({{"type":"error","message":"Reconnecting... {}/5 ({})"}})_"
                       "\n",
                       n, kBusy);
  }
  std::string give_up(std::optional<int> /*status*/) override {
    return fmt::format(R"({{"type":"error","message":"{0}"}})"
                       "\n"
                       R"({{"type":"turn.failed","error":{{"message":"{0}"}}}})"
                       "\n",
                       kBusy);
  }
  std::string deny(const std::string& call) override {
    return open(call, {}) +
           fmt::format(
               R"({{"type":"item.completed","item":{{"id":"{0}","type":"command_execution","command":"make {0}","aggregated_output":"","status":"declined"}}}})"
               "\n",
               call);
  }
  std::string chatter(std::uint64_t n) override {
    return fmt::format(
        R"({{"type":"item.started","item":{{"id":"again-{0}","type":"command_execution","command":"make test","status":"in_progress"}}}})"
        "\n"
        R"({{"type":"item.completed","item":{{"id":"again-{0}","type":"command_execution","command":"make test","aggregated_output":"no such target","exit_code":2,"status":"completed"}}}})"
        "\n",
        n);
  }
  std::string end_turn() override {
    return R"({"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}})"
           "\n";
  }

 private:
  static constexpr std::string_view kBusy =
      "We're currently experiencing high demand, which may cause temporary errors.";
};

/// An answer comes in pieces; what the model thinks and what it tries again is silence.
class GeminiSpeech final : public Speech {
 public:
  std::string begin(std::string_view session) override {
    return joined({R"({"type":"init","session_id":")", session, R"(","model":"auto"})", "\n",
                   R"({"type":"message","role":"user","content":"do it"})", "\n"});
  }
  std::string say(std::uint64_t n) override {
    return joined({R"({"type":"message","role":"assistant","content":"words )", std::to_string(n),
                   R"(. ","delta":true})", "\n"});
  }
  std::string open(const std::string& call, Duration /*declared*/) override {
    return use(call, "make " + call);
  }
  std::string close(const std::string& call) override {
    return result_of(call, R"("status":"success","output":"done )" + call + "\"");
  }
  std::string open_subagent(const std::string& call) override { return open(call, {}); }
  std::string say_as_subagent(const std::string& /*call*/, std::uint64_t /*n*/) override {
    return "";
  }
  std::string open_background(const std::string& call) override { return open(call, {}) + say(0); }
  std::string wake_from_background(const std::string& call) override { return close(call); }
  std::string give_up(std::optional<int> status) override {
    return fmt::format(
        R"_({{"type":"result","status":"error","error":{{"type":"unknown","message":"[API Error: {{\"error\":{{\"code\":{},\"message\":\"scripted\",\"status\":\"INTERNAL\"}}}}]"}}}})_"
        "\n",
        status.value_or(500));
  }
  std::string deny(const std::string& call) override {
    return use(call, "make " + call) +
           result_of(
               call,
               R"("status":"error","error":{"type":"tool_not_registered","message":"Tool \"run_shell_command\" not found."})");
  }
  std::string chatter(std::uint64_t n) override {
    const std::string call = fmt::format("again-{}", n);
    return use(call, "make test") +
           result_of(call, R"("status":"success","output":"no such target")");
  }
  std::string end_turn() override {
    return R"({"type":"result","status":"success","stats":{"tool_calls":1}})"
           "\n";
  }

 private:
  static std::string use(const std::string& call, std::string_view command) {
    return joined({R"({"type":"tool_use","tool_name":"run_shell_command","tool_id":")", call,
                   R"(","parameters":{"command":")", command, R"("}})", "\n"});
  }
  static std::string result_of(const std::string& call, std::string_view how) {
    return joined({R"({"type":"tool_result","tool_id":")", call, "\",", how, "}\n"});
  }
};

/// It tells of what is over, and nothing before that.
class OpencodeSpeech final : public Speech {
 public:
  std::string begin(std::string_view session) override {
    session_ = session;
    return line("step_start", "");
  }
  std::string say(std::uint64_t n) override {
    return line("text", joined({R"("text":"words )", std::to_string(n), "\""}));
  }
  std::string open(const std::string& /*call*/, Duration /*declared*/) override { return ""; }
  std::string close(const std::string& call) override {
    return use(call, "make " + call, R"("status":"completed","output":"done )" + call + "\"");
  }
  std::string open_subagent(const std::string& /*call*/) override { return ""; }
  std::string say_as_subagent(const std::string& /*call*/, std::uint64_t /*n*/) override {
    return "";
  }
  std::string open_background(const std::string& /*call*/) override { return say(0); }
  std::string wake_from_background(const std::string& call) override { return close(call); }
  std::string give_up(std::optional<int> status) override {
    return fmt::format(
        R"({{"type":"error","sessionID":"{}","error":{{"name":"APIError","data":{{"message":"scripted","statusCode":{},"isRetryable":true}}}}}})"
        "\n",
        session_, status.value_or(500));
  }
  std::string deny(const std::string& call) override {
    return line(
        "tool_use",
        joined(
            {R"("tool":"bash","callID":")", call,
             R"(","state":{"status":"error","input":{},"error":"The user rejected permission to use this specific tool call."})"}));
  }
  std::string chatter(std::uint64_t n) override {
    return use(fmt::format("again-{}", n), "make test",
               R"("status":"completed","output":"no such target")");
  }
  std::string end_turn() override { return line("step_finish", R"("reason":"stop")"); }

 private:
  [[nodiscard]] std::string line(std::string_view type, std::string_view part) const {
    return joined(
        {R"({"type":")", type, R"(","sessionID":")", session_, R"(","part":{)", part, "}}\n"});
  }
  /// A step ends with its calls, and the next one begins.
  [[nodiscard]] std::string use(const std::string& call, std::string_view command,
                                std::string_view how) const {
    return line("tool_use",
                joined({R"("tool":"bash","callID":")", call, R"(","state":{"input":{"command":")",
                        command, R"("},)", how, "}"})) +
           line("step_finish", R"("reason":"tool-calls")") + line("step_start", "");
  }

  std::string session_;
};

class LineSpeech final : public Speech {
 public:
  std::string begin(std::string_view /*session*/) override { return "begins\n"; }
  std::string say(std::uint64_t n) override { return fmt::format("line {}\n", n); }
  std::string open(const std::string& call, Duration /*declared*/) override {
    return fmt::format("begins {}\n", call);
  }
  std::string close(const std::string& call) override { return fmt::format("ended {}\n", call); }
  std::string open_subagent(const std::string& call) override { return open(call, {}); }
  std::string say_as_subagent(const std::string& /*call*/, std::uint64_t n) override {
    return say(n);
  }
  std::string open_background(const std::string& call) override { return open(call, {}); }
  std::string wake_from_background(const std::string& call) override { return close(call); }
  std::string deny(const std::string& /*call*/) override { return ""; }
  std::string chatter(std::uint64_t /*n*/) override { return "...\n"; }
  std::string end_turn() override { return "ends\n"; }
};

}  // namespace

std::unique_ptr<Speech> make_speech(Voice voice) {
  switch (voice) {
    case Voice::claude:
      return std::make_unique<ClaudeSpeech>();
    case Voice::codex:
      return std::make_unique<CodexSpeech>();
    case Voice::gemini:
      return std::make_unique<GeminiSpeech>();
    case Voice::opencode:
      return std::make_unique<OpencodeSpeech>();
    case Voice::beats:
    case Voice::lines:
      break;
  }
  return std::make_unique<LineSpeech>();
}

}  // namespace tend::sim
