// OpenCode, `run --format json`: it tells of things when they are over. A tool at work, a retry and
// a sub-agent are all silence.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/quote.h"
#include "sense/agent_adapter.h"
#include "sense/causes.h"

namespace tend {
namespace {

using namespace stream;

class OpencodeAdapter final : public AgentAdapter {
 public:
  [[nodiscard]] AdapterKind kind() const override { return AdapterKind::opencode; }

 private:
  void hear(Object& line) override {
    const std::string_view type = text_in(line, "type");
    if (conversation_.session.empty()) learn_session(text_in(line, "sessionID"));
    if (type == "step_start") return hear_step();
    const bool told_nothing = std::exchange(step_is_bare_, false);
    if (type == "tool_use") return hear_tool(line);
    if (type == "step_finish") return hear_finish(line);
    if (type == "text" || type == "reasoning") {
      conversation_.said_something |= type == "text";
      has_words_ = true;
      return progress();
    }
    if (type == "error") return hear_error(line);
    if (type == "done" && turn_is_open()) return end_turn();
    step_is_bare_ = told_nothing;
    weak();
  }

  void forget() override { rejected_ = step_is_bare_ = has_words_ = false; }

  /// One that follows another with nothing between them asks the same again, after a silence.
  void hear_step() {
    rejected_ = false;
    if (!turn_is_open()) {
      start_turn();
    } else if (step_is_bare_) {
      error("network", false);
    } else {
      go_on();
    }
    step_is_bare_ = true;
  }

  /// A step is news by what is told in it: the same call with the same result is none.
  void go_on() { calls_.go_in_circles("") && !has_words_ ? weak() : progress(); }

  void hear_tool(Object& line) {
    auto part = object_in(line, "part");
    if (!part) return weak();
    const std::string_view id = name_in(*part, "callID");
    const std::string_view tool = name_in(*part, "tool");
    if (id.empty()) return progress();
    auto state = object_in(*part, "state");
    const std::string input(state ? raw_in(*state, "input") : std::string_view{});
    std::string result(state ? raw_in(*state, "output") : std::string_view{});
    const std::string_view why = state ? raw_in(*state, "error") : std::string_view{};
    result += why;
    if (why.contains("rejected permission")) {
      rejected_ = true;
      ++conversation_.denied;
      remark(
          fmt::format("{} was not allowed, and nobody was there to ask: allow it under "
                      "\"permission\" in opencode.json, or run with --auto",
                      in_quotes(tool)));
    }
    say_open(open_call(id, tool, input));
    close_call(id, result);
    has_words_ = false;
  }

  void hear_finish(Object& line) {
    auto part = object_in(line, "part");
    const std::string_view reason = part ? text_in(*part, "reason") : std::string_view{};
    if (reason == "tool-calls" || reason == "unknown") return go_on();
    end_turn();
  }

  void hear_error(Object& line) {
    std::string word = "error";
    if (auto why = object_in(line, "error")) {
      Cause cause = Cause::none;
      if (auto data = object_in(*why, "data")) {
        if (const auto status = int_in(*data, "statusCode")) cause = cause_of_status(*status);
        if (cause == Cause::none) cause = cause_of_message(text_in(*data, "message"));
      }
      if (cause == Cause::none) cause = cause_of_message(text_in(*why, "name"));
      if (cause != Cause::none) word = kCauseWords[static_cast<std::size_t>(cause)];
    }
    end_turn(word);
  }

  /// Where it may not use a tool it ends there, without a word.
  void finish_well() override {
    if (rejected_ && turn_is_open()) end_turn();
  }

  bool has_words_ = false;     // since the last call
  bool rejected_ = false;      // the last tool was not allowed
  bool step_is_bare_ = false;  // a step has begun, and nothing was told of it yet
};

}  // namespace

std::unique_ptr<Adapter> make_opencode_adapter() { return std::make_unique<OpencodeAdapter>(); }

}  // namespace tend
