// Claude Code, `--output-format stream-json`. A `result` is not the end, success is not always one,
// and what a sub-agent does shows only in parts: docs/adapters.md has every line and why.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "base/quote.h"
#include "sense/agent_adapter.h"
#include "sense/causes.h"
#include "sense/written_inputs.h"

namespace tend {
namespace {

using namespace stream;

constexpr std::string_view kSessionQuestion = "session";

bool asks_a_person(std::string_view tool) {
  return tool == "AskUserQuestion" || tool == "ExitPlanMode";
}

bool is_sub_agent(std::string_view tool) { return tool == "Agent" || tool == "Task"; }

/// The agent's own words for why it failed, in ours.
std::string_view cause_word(std::string_view error) {
  constexpr std::array<std::pair<std::string_view, Cause>, 8> kWords{{
      {"rate_limit", Cause::rate},
      {"overloaded", Cause::overload},
      {"server_error", Cause::overload},
      {"authentication_failed", Cause::auth},
      {"oauth_org_not_allowed", Cause::auth},
      {"billing_error", Cause::quota},
      {"unknown", Cause::network},
      {"timeout", Cause::network},
  }};
  for (const auto& [word, cause] : kWords) {
    if (word == error) return kCauseWords[static_cast<std::size_t>(cause)];
  }
  return error;
}

std::string_view cause_word(Cause cause) { return kCauseWords[static_cast<std::size_t>(cause)]; }

bool is_end(std::string_view status) {
  return status == "completed" || status == "failed" || status == "killed" || status == "stopped";
}

class ClaudeAdapter final : public AgentAdapter {
 public:
  [[nodiscard]] AdapterKind kind() const override { return AdapterKind::claude; }

 private:
  void hear(Object& line) override {
    const std::string_view type = text_in(line, "type");
    if (type == "stream_event") return hear_delta(line);
    if (type == "assistant") return hear_assistant(line);
    if (type == "user") return hear_user(line);
    if (type == "system") return hear_system(line, text_in(line, "subtype"));
    if (type == "result") return hear_result(line);
    if (type == "tool_progress") return hear_tool_progress(line);
    if (type == "rate_limit_event") return hear_rate_limit(line);
    if (type == "control_request") return hear_request(line);
    if (type == "control_cancel_request") return hear_answer(line);
    if (type == "error") return hear_error(line);
    weak();
  }

  void forget() override {
    compacting_ = false;
    session_asks_ = false;
    last_error_.clear();
    works_.clear();
    inputs_.clear();
  }

  // --- What the model says ----------------------------------------------------------------------

  void hear_delta(Object& line) {
    auto event = object_in(line, "event");
    if (!event) return weak();
    const std::string_view type = text_in(*event, "type");
    if (type == "ping") return noise();
    const Part part = part_of(*event, type);
    const std::string_view task = name_in(line, "parent_tool_use_id");
    const bool is_new = is_new_part(part, task);
    is_new || !calls_.go_in_circles(task) ? progress(task) : weak();
  }

  /// Of an answer that comes piece by piece.
  struct Part {
    enum class Is : std::uint8_t { frame, words, tool, input };
    Is is = Is::frame;
    std::string_view text;  // the tool's name; a piece of its input
  };

  Part part_of(Object& event, std::string_view type) {
    if (type == "content_block_start") {
      auto block = object_in(event, "content_block");
      const std::string_view tool = block ? name_in(*block, "name") : std::string_view{};
      return tool.empty() ? Part{} : Part{.is = Part::Is::tool, .text = tool};
    }
    if (type != "content_block_delta") return {};
    auto delta = object_in(event, "delta");
    if (!delta) return {};
    if (text_in(*delta, "type") != "input_json_delta") return {.is = Part::Is::words, .text = {}};
    return {.is = Part::Is::input, .text = text_in(*delta, "partial_json")};
  }

  /// A frame only proves that the model answers, and so it does who goes in circles.
  bool is_new_part(const Part& part, std::string_view task) {
    switch (part.is) {
      case Part::Is::tool:
        return inputs_.begin(task, part.text);
      case Part::Is::input:
        return inputs_.add(task, part.text);
      case Part::Is::words:
        return true;
      case Part::Is::frame:
        break;
    }
    return false;
  }

  void hear_assistant(Object& line) {
    const std::string_view task = name_in(line, "parent_tool_use_id");
    const std::string_view said_error = name_in(line, "error");
    const std::string_view line_id = name_in(line, "uuid");
    auto message = object_in(line, "message");
    if (!message) return weak();
    if (!said_error.empty() || text_in(*message, "model") == "<synthetic>") {
      return hear_own_words(said_error, *message, task);
    }
    const std::string_view id = name_in(*message, "id");
    // Qwen Code, which speaks this language too, names a message as it names the line, and begins
    // a new one within one answer of the model.
    if (!id.empty() && id != line_id) miss_answers_before(id, task);
    auto content = field(*message, "content");
    if (!content) return weak();
    for_each_object(*content, [&](Object& block) { hear_block(block, id, task); });
  }

  /// The model says nothing new before all that it asked for was answered: what an earlier message
  /// of the same thread asked for was, and we did not hear it.
  void miss_answers_before(std::string_view message, std::string_view task) {
    for (std::size_t i = calls_.all().size(); i-- > 0;) {
      OpenCalls::Call& call = calls_.all()[i];
      if (call.answered || call.message.empty() || call.message == message || call.task != task) {
        continue;
      }
      if (runs_on(call)) {
        call.answered = true;
        continue;
      }
      if (call.question) put(Kind::answer).id = kept(call.id);
      if (call.sub_agent) expect_end_of(call.work, call.id);
      say_closed(call, 0);
      calls_.close(call);
    }
  }

  /// What it says itself instead of the model is no progress.
  void hear_own_words(std::string_view said, Object& message, std::string_view task) {
    std::string word(cause_word(said));
    if (word.empty()) {
      const Cause cause = cause_of_message(raw_in(message, "content"));
      if (cause == Cause::none) return weak();
      word = cause_word(cause);
    }
    if (task.empty()) last_error_ = word;
    error(word, task.empty() && word != "max_output_tokens", task);
  }

  void hear_block(Object& block, std::string_view message, std::string_view task) {
    const std::string_view type = text_in(block, "type");
    if (type != "tool_use") {
      conversation_.said_something |= type == "text" && task.empty();
      return progress(task);
    }
    const std::string_view id = name_in(block, "id");
    if (id.empty()) return progress(task);
    const std::string_view tool = name_in(block, "name");
    std::optional<double> timeout;
    bool background = false;
    if (auto input = object_in(block, "input")) {
      timeout = number_in(*input, "timeout");
      background = flag_in(*input, "run_in_background");
    }
    OpenCalls::Call& call = open_call(id, tool, raw_in(block, "input"), task);
    call.message = message;
    call.sub_agent = is_sub_agent(tool);
    // A sub-agent beside the turn is waited for like any other: its result holds the turn's back.
    call.background = background && !call.sub_agent;
    call.detached = background && call.sub_agent;
    call.question = task.empty() && asks_a_person(tool);
    Signal& open = say_open(call);
    if (timeout && *timeout > 0) open.limit = after(*timeout / 1000) - after(0);
    if (call.question) put(Kind::ask).id = kept(call.id);
  }

  // --- What it is told --------------------------------------------------------------------------

  void hear_user(Object& line) {
    const std::string_view task = name_in(line, "parent_tool_use_id");
    const bool detaches = is_launch(line);
    auto message = object_in(line, "message");
    if (!message) return weak();
    auto content = field(*message, "content");
    if (!content) return weak();
    bool answered = false;
    for_each_object(*content, [&](Object& block) {
      if (text_in(block, "type") != "tool_result") return;
      answered = true;
      hear_tool_result(block, task, detaches);
    });
    if (!answered) weak();
  }

  /// Whether the result in this line says that a sub-agent goes on in the background, whoever
  /// asked for that.
  bool is_launch(Object& line) {
    if (std::ranges::none_of(calls_.all(), &OpenCalls::Call::sub_agent)) return false;
    auto result = object_in(line, "tool_use_result");
    return result && text_in(*result, "status") == "async_launched";
  }

  void hear_tool_result(Object& block, std::string_view task, bool detaches) {
    const std::string_view id = name_in(block, "tool_use_id");
    OpenCalls::Call* const call = calls_.find(id);
    if (call == nullptr) return progress(task);
    if (detaches) detach(*call);
    if (runs_on(*call)) {
      call->answered = true;
      return progress(task);
    }
    const OpenCalls::Call before = *call;
    close_call(id, raw_in(block, "content"), task);
    if (before.sub_agent) return expect_end_of(before.work, before.id);
    if (before.work.empty()) return;
    // It outlived its time and was moved to the background.
    OpenCalls::Call& moved = calls_.open(before.work);
    moved.tool = before.tool;
    moved.task = before.task;
    moved.work = before.work;
    moved.background = moved.answered = true;
    say_open(moved);
  }

  /// Its answer says that it began, and not that it is over.
  static bool runs_on(const OpenCalls::Call& call) {
    return !call.work.empty() && (call.background || call.detached);
  }

  static void detach(OpenCalls::Call& call) { call.detached = call.sub_agent; }

  // --- What it says of itself -------------------------------------------------------------------

  void hear_system(Object& line, std::string_view about) {
    if (about == "init") {
      learn_session(text_in(line, "session_id"));
      return start_turn();
    }
    if (about == "thinking_tokens") return progress();
    if (about == "api_retry") return say_retry(line, {});
    if (about == "task_started" || about == "task_progress") {
      return hear_work(line, about == "task_started");
    }
    if (about == "task_updated" || about == "task_notification") return hear_work_end(line);
    if (about == "background_tasks_changed") return hear_background(line);
    if (about == "status") return hear_status(line);
    if (about == "compact_boundary") return hear_boundary();
    if (about == "session_state_changed") return hear_state(line);
    if (about == "permission_denied") {
      remark(fmt::format("{} was not allowed, and nobody was asked",
                         in_quotes(text_in(line, "tool_name"))));
    }
    weak();
  }

  void say_retry(Object& retry, std::string_view task) {
    Signal& signal = put(Kind::retry, task);
    if (const auto delay = number_in(retry, "retry_delay_ms")) signal.until = after(*delay / 1000);
    const auto status = int_in(retry, "error_status");
    const Cause cause = status ? cause_of_status(*status) : Cause::network;
    set_cause(signal, cause_word(cause == Cause::none ? Cause::overload : cause));
  }

  void hear_work(Object& line, bool starts) {
    if (flag_in(line, "ambient")) return;
    const std::string id(name_in(line, "tool_use_id"));
    const std::string work(name_in(line, "task_id"));
    OpenCalls::Call* call = calls_.find(id);
    if (call == nullptr) call = calls_.find_work(work);  // it was moved to the background
    if (starts && call != nullptr) {
      call->work = work;
      if (flag_in(line, "is_backgrounded")) detach(*call);
    }
    const std::string_view type = text_in(line, "task_type");
    const bool of_shell = type == "local_bash" || (call != nullptr && !call->sub_agent);
    if (!of_shell) {
      if (starts && call == nullptr) expect_end_of(work, id);
      return progress(id.empty() ? work : id);
    }
    if (call == nullptr) return weak();
    beat(*call);
  }

  /// Of what is no open call, or none any more.
  void expect_end_of(const std::string& work, const std::string& id) {
    if (work.empty()) return;
    works_.push_back({work, id});
    if (works_.size() > kMostWorks) works_.erase(works_.begin());
  }

  void hear_work_end(Object& line) {
    std::string status(text_in(line, "status"));
    bool detaches = false;
    if (auto patch = object_in(line, "patch")) {
      status = text_in(*patch, "status");
      detaches = flag_in(*patch, "is_backgrounded");
    }
    const std::string work(name_in(line, "task_id"));
    OpenCalls::Call* const call = calls_.find_work(work);
    if (call != nullptr && detaches) detach(*call);
    if (!is_end(status)) return weak();
    if (call != nullptr) return end_work(*call);
    const auto known = std::ranges::find(works_, work, &Work::name);
    if (known == works_.end()) return weak();
    const std::string task = known->call;
    works_.erase(known);
    progress(task);
  }

  /// What ran behind a call is over. If the call was answered before, this closes it.
  void end_work(OpenCalls::Call& call) {
    call.work.clear();
    if (call.answered || call.background) {
      say_closed(call, 0);
      return calls_.close(call);
    }
    if (call.sub_agent) return progress(call.id);
    weak();
  }

  /// The whole truth about what runs in the background: what is not in it is over.
  void hear_background(Object& line) {
    auto tasks = field(line, "tasks");
    if (!tasks) return weak();
    std::vector<std::string> running;
    for_each_object(*tasks, [&](Object& task) {
      std::string_view name = name_in(task, "task_id");
      if (name.empty()) name = name_in(task, "id");
      running.emplace_back(name);
    });
    bool changed = false;
    for (std::size_t i = calls_.all().size(); i-- > 0;) {
      OpenCalls::Call& call = calls_.all()[i];
      if (!call.answered || call.work.empty() || std::ranges::count(running, call.work) > 0) {
        continue;
      }
      end_work(call);
      changed = true;
    }
    if (!changed) weak();
  }

  void hear_status(Object& line) {
    if (text_in(line, "status") == "compacting") {
      if (compacting_) return weak();
      compacting_ = true;
      put(Kind::compact_start);
      return;
    }
    if (!compacting_) return weak();
    compacting_ = false;
    put(Kind::compact_end);
  }

  void hear_boundary() {
    if (!compacting_) put(Kind::compact_start);
    compacting_ = false;
    put(Kind::compact_end);
  }

  void hear_state(Object& line) {
    const std::string_view state = text_in(line, "state");
    if (session_asks_ && state != "requires_action") {
      session_asks_ = false;
      put(Kind::answer).id = kept(kSessionQuestion);
    }
    if (state == "idle" && turn_is_open()) return finish_turn("");
    if (state == "running" && !turn_is_open() && had_turn()) return start_turn();
    if (state == "requires_action") {
      session_asks_ = true;
      put(Kind::ask).id = kept(kSessionQuestion);
      return;
    }
    weak();
  }

  void hear_result(Object& line) {
    const std::string word = failure_of(line);
    if (!word.empty() && !had_turn()) {
      // It ended before it began: a session that it does not know, or arguments it does not like.
      conversation_.failed = true;
      conversation_.session_unknown =
          raw_in(line, "errors").contains("No conversation found with session ID");
      return error(word, true);
    }
    if (auto denials = field(line, "permission_denials")) {
      for_each_object(*denials, [&](Object& denial) {
        ++conversation_.denied;
        remark(fmt::format(
            "{} was not allowed, and nobody was there to ask: allow it with --allowedTools, or "
            "choose a --permission-mode",
            in_quotes(text_in(denial, "tool_name"))));
      });
    }
    finish_turn(word);
  }

  void finish_turn(std::string_view word) {
    last_error_.clear();
    compacting_ = false;
    // Sub-agents that go on beside the turn are in the background from now on.
    for (OpenCalls::Call& call : calls_.all()) {
      if (!call.sub_agent || !call.answered || call.background) continue;
      call.background = true;
      say_open(call);
    }
    end_turn(word);
  }

  /// The word for why a turn failed; "" if it did not. `subtype` says success for both.
  std::string failure_of(Object& line) {
    const std::string_view subtype = name_in(line, "subtype");
    constexpr std::string_view kError = "error_";
    if (!flag_in(line, "is_error") && !subtype.starts_with(kError)) return "";
    if (const auto status = int_in(line, "api_error_status")) {
      const Cause cause = cause_of_status(*status);
      if (cause != Cause::none) return std::string(cause_word(cause));
    }
    const std::string_view reason = name_in(line, "terminal_reason");
    if (!reason.empty() && reason != "completed" && reason != "api_error") {
      return std::string(reason);
    }
    if (!last_error_.empty()) return last_error_;
    if (subtype.starts_with(kError)) return std::string(subtype.substr(kError.size()));
    const Cause cause = cause_of_message(text_in(line, "result"));
    return std::string(cause == Cause::none ? "error" : cause_word(cause));
  }

  // --- Others -----------------------------------------------------------------------------------

  /// The call it belongs to is named in one of two places.
  void hear_tool_progress(Object& line) {
    const std::string parent(name_in(line, "parent_tool_use_id"));
    if (auto retry = object_in(line, "subagent_retry")) return say_retry(*retry, parent);
    const OpenCalls::Call* call = calls_.find(name_in(line, "tool_use_id"));
    if (call == nullptr) call = calls_.find(parent);
    if (call == nullptr) return weak();
    beat(*call);
  }

  void hear_rate_limit(Object& line) {
    auto info = object_in(line, "rate_limit_info");
    if (!info || text_in(*info, "status") != "rejected") return weak();
    const bool spent = text_in(*info, "errorCode") == "credits_required";
    const auto resets = number_in(*info, "resetsAt");
    Signal& retry = put(Kind::retry);
    if (resets) retry.until = at_calendar(*resets);
    set_cause(retry, cause_word(spent ? Cause::quota : Cause::rate));
  }

  void hear_request(Object& line) {
    const std::string id(name_in(line, "request_id"));
    auto request = object_in(line, "request");
    if (!request || id.empty() || text_in(*request, "subtype") != "can_use_tool") return weak();
    remark(fmt::format("it asks whether it may use {}: its host has to answer request {}",
                       in_quotes(text_in(*request, "tool_name")), in_quotes(id)));
    put(Kind::ask).id = kept(id);
  }

  void hear_answer(Object& line) {
    const std::string_view id = name_in(line, "request_id");
    if (id.empty()) return weak();
    put(Kind::answer).id = kept(id);
  }

  void hear_error(Object& line) {
    const std::string_view message = raw_in(line, "error");
    const Cause cause = cause_of_message(message);
    error(cause_word(cause == Cause::none ? Cause::another : cause), false);
  }

  /// A sub-agent without an open call: of one within another only the task is told, and of one
  /// whose answer was lost the end may still come.
  struct Work {
    std::string name;
    std::string call;
  };
  static constexpr std::size_t kMostWorks = 256;

  bool compacting_ = false;
  bool session_asks_ = false;
  std::string last_error_;  // of the turn at hand
  std::vector<Work> works_;
  WrittenInputs inputs_;
};

}  // namespace

std::unique_ptr<Adapter> make_claude_adapter() { return std::make_unique<ClaudeAdapter>(); }

}  // namespace tend
