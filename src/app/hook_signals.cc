// One pass over the object for the fields that count, then one row an event.
#include "app/hook_signals.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "sense/causes.h"
#include "sense/stream_json.h"

namespace tend {
namespace {

namespace od = simdjson::ondemand;

constexpr std::size_t kLongestText = 200;  // of an id or a name; what is behind it is cut
constexpr std::string_view kPermission = "permission";

/// What a hook may be told. Texts point into the reader.
struct HookEvent {
  std::string_view event;
  std::string_view tool;
  std::string_view id;
  std::string_view turn;
  std::string_view task;  // the sub-agent that did it
  std::string_view notification;
  std::string_view source;
  std::string_view reason;
  std::string_view error;
  std::optional<double> timeout_ms;
  unsigned background = 0;
};

// ---- Reading

void read_text(od::value value, std::string_view& into) {
  std::string_view text;
  if (value.get_string().get(text) == simdjson::SUCCESS) into = text;
}

void read_input(od::value value, HookEvent& event) {
  od::object input;
  if (value.get_object().get(input) != simdjson::SUCCESS) return;
  event.timeout_ms = stream::number_in(input, "timeout");
}

void count_running(od::value value, HookEvent& event) {
  stream::for_each_object(value, [&](od::object& task) {
    const std::string_view status = stream::text_in(task, "status");
    const bool running = status.empty() || status == "running" || status == "pending";
    if (running) ++event.background;
  });
}

struct TextField {
  std::string_view key;
  std::string_view HookEvent::* into;
};
constexpr TextField kTexts[] = {
    {"hook_event_name", &HookEvent::event}, {"tool_name", &HookEvent::tool},
    {"tool_use_id", &HookEvent::id},        {"turn_id", &HookEvent::turn},
    {"agent_id", &HookEvent::task},         {"notification_type", &HookEvent::notification},
    {"source", &HookEvent::source},         {"reason", &HookEvent::reason},
    {"error", &HookEvent::error},
};

void read_field(std::string_view key, od::value value, HookEvent& event) {
  if (key == "tool_input") return read_input(value, event);
  if (key == "background_tasks") return count_running(value, event);
  for (const TextField& field : kTexts) {
    if (key == field.key) return read_text(value, event.*field.into);
  }
}

/// An event without a name if the input is not whole: half of an event would be another one.
HookEvent read_event(stream::Reader& reader, std::string_view input) {
  HookEvent event;
  auto object = reader.open(input);
  if (!object) return {};
  for (auto next : *object) {
    od::field field;
    std::string_view key;
    if (std::move(next).get(field) != simdjson::SUCCESS) return {};
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return {};
    read_field(key, field.value(), event);
  }
  return event;
}

// ---- Writing

/// At most kLongestText bytes, no character torn. Both ends of a call are cut alike.
std::string_view cut(std::string_view text) {
  if (text.size() <= kLongestText) return text;
  std::size_t end = kLongestText;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

/// A control character, which no name of ours has, becomes a question mark.
void append_text(std::string& to, std::string_view text) {
  to += '"';
  for (const char c : cut(text)) {
    if (c == '"' || c == '\\') to += '\\';
    to += static_cast<unsigned char>(c) < ' ' ? '?' : c;
  }
  to += '"';
}

/// One signal in the making.
class Line {
 public:
  explicit Line(std::string_view is) { add("is", is); }

  Line& add(std::string_view key, std::string_view text) {
    begin(key);
    append_text(text_, text);
    return *this;
  }
  Line& add_unless_empty(std::string_view key, std::string_view text) {
    return text.empty() ? *this : add(key, text);
  }
  Line& add_number(std::string_view key, const std::string& digits) {
    begin(key);
    text_ += digits;
    return *this;
  }
  [[nodiscard]] std::string close() const { return text_ + "}"; }

 private:
  void begin(std::string_view key) {
    text_ += text_.empty() ? "{\"" : ",\"";
    text_.append(key).append("\":");
  }

  std::string text_;
};

std::string seconds(double ms) {
  const long long rounded = std::llround(ms);
  std::string rest = std::to_string(rounded % 1000);
  rest.insert(0, 3 - rest.size(), '0');
  return std::to_string(rounded / 1000) + (rest == "000" ? "" : "." + rest);
}

// ---- Events to signals

/// Collects the signals of one event and leaves out what is no news.
class Teller {
 public:
  Teller(HookAgent agent, const HookEvent& event, Hearing hearing)
      : agent_(agent), event_(event), hearing_(hearing) {}

  std::vector<std::string> tell();

 private:
  void tell_claude();
  void tell_gemini();
  void tell_notification();
  void open_call();
  void close_call();
  void end_turn();
  void end_session();

  void activity(std::string_view from = "log") { say(Line("activity").add("from", from)); }
  void ask(std::string_view id) { say(by_whom(Line("ask").add("id", id))); }
  void answer(std::string_view id) { say(by_whom(Line("answer").add("id", id))); }
  /// Whatever was asked, work goes on. With a stream that is the stream's to say: an answer is a
  /// real sign, also where the call that it stands beside goes in circles.
  void answer_permission() {
    if (hearing_ == Hearing::all) answer(kPermission);
  }
  void say(const Line& line) { said_.push_back(line.close()); }
  /// What the stream says too, and better.
  void say_of_stream(const Line& line) {
    if (hearing_ == Hearing::all) say(line);
  }
  Line& by_whom(Line& line) const { return line.add_unless_empty("task", event_.task); }
  Line by_whom(Line&& line) const { return by_whom(line); }

  [[nodiscard]] bool is(std::string_view name) const { return event_.event == name; }
  [[nodiscard]] bool is_question() const {
    return event_.tool == "AskUserQuestion" || event_.tool == "ExitPlanMode";
  }
  /// One that the agent gave, else one that is the same when the call ends.
  [[nodiscard]] std::string call_id() const {
    if (!event_.id.empty()) return std::string(event_.id);
    std::string id(cut(event_.tool));
    if (!event_.turn.empty()) id.append("/").append(event_.turn);
    return id;
  }

  HookAgent agent_;
  const HookEvent& event_;
  Hearing hearing_;
  std::vector<std::string> said_;
};

void Teller::open_call() {
  Line line("tool-open");
  line.add("id", call_id()).add_unless_empty("tool", event_.tool);
  constexpr double kLongest = 1e12;
  const auto ms = event_.timeout_ms;
  if (event_.tool == "Bash" && ms && *ms >= 1 && *ms < kLongest) {
    line.add_number("limit", seconds(*ms));
  }
  say_of_stream(by_whom(line));
  if (is_question()) ask(call_id());
}

void Teller::close_call() {
  if (is_question()) answer(call_id());
  answer_permission();
  Line line("tool-close");
  say_of_stream(by_whom(line.add("id", call_id())));
}

void Teller::end_turn() {
  answer_permission();
  Line line("turn-end");
  if (event_.background > 0) line.add_number("background", std::to_string(event_.background));
  if (is("StopFailure")) {
    const Cause cause = cause_of_message(event_.error);
    const std::string_view own = event_.error.empty() ? "unknown" : event_.error;
    line.add("error", cause == Cause::none ? own : word(cause));
  }
  say_of_stream(by_whom(line));
}

/// The program goes on after /clear and /resume, with another session.
void Teller::end_session() {
  const bool goes_on = event_.reason == "clear" || event_.reason == "resume";
  if (!goes_on) say_of_stream(Line("state").add("state", "exiting"));
}

void Teller::tell_notification() {
  constexpr std::array<std::string_view, 5> kQuestions{"permission_prompt", "elicitation_dialog",
                                                       "elicitation_url_dialog",
                                                       "agent_needs_input", "ToolPermission"};
  if (std::ranges::find(kQuestions, event_.notification) != kQuestions.end()) ask(kPermission);
  if (event_.notification != "idle_prompt" || hearing_ != Hearing::all) return;
  // A turn that a person broke off has no end of its own, and its calls have none either: without
  // one, idle would contradict them.
  answer_permission();
  say(Line("turn-end"));
  say(Line("state").add("state", "idle"));
}

void Teller::tell_claude() {
  if (is("UserPromptSubmit")) return say_of_stream(by_whom(Line("turn-start")));
  if (is("PreToolUse")) return open_call();
  if (is("PostToolUse") || is("PostToolUseFailure")) return close_call();
  if (is("PermissionRequest")) return ask(kPermission);
  if (is("Notification")) return tell_notification();
  if (is("PreCompact")) return say(by_whom(Line("compact-start")));
  if (is("PostCompact")) return say(by_whom(Line("compact-end")));
  if (is("SessionStart") && event_.source == "compact") return say(Line("compact-end"));
  if (is("SubagentStart") || is("SubagentStop")) {
    return event_.task.empty() ? activity() : say_of_stream(by_whom(Line("progress")));
  }
  if (is("Stop") || is("StopFailure")) return end_turn();
  if (is("SessionEnd")) return end_session();
}

void Teller::tell_gemini() {
  if (is("BeforeAgent")) return say_of_stream(Line("turn-start"));
  if (is("AfterAgent")) return end_turn();
  if (is("BeforeTool")) return open_call();
  if (is("AfterTool")) return close_call();
  if (is("BeforeModel") || is("AfterModel")) return activity("tokens");
  if (is("Notification")) return tell_notification();
  if (is("PreCompress")) return say(Line("compact-start"));
  if (is("SessionEnd")) return end_session();
}

std::vector<std::string> Teller::tell() {
  if (hearing_ != Hearing::nested) agent_ == HookAgent::gemini ? tell_gemini() : tell_claude();
  if (said_.empty()) activity();
  return std::move(said_);
}

}  // namespace

std::vector<std::string> hook_signals(HookAgent agent, std::string input, Hearing hearing) {
  const std::size_t size = input.size();
  input.resize(size + LineSplitter::kPadding, ' ');
  stream::Reader reader;
  const HookEvent event = read_event(reader, std::string_view(input).substr(0, size));
  return Teller(agent, event, hearing).tell();
}

}  // namespace tend
