// Gemini CLI, `--output-format stream-json`. After a retry an answer is told again from its first
// word.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "sense/agent_adapter.h"
#include "sense/causes.h"

namespace tend {
namespace {

using namespace stream;

/// The answer as far as it was told, and where in it a second telling is.
class Answer {
 public:
  /// Whether a piece is new. Only an answer that is told again from its very beginning is old.
  bool is_news(std::string_view piece) {
    const std::string_view rest = std::string_view(text_).substr(again_);
    if (!rest.empty() && rest.starts_with(piece)) {
      again_ = (again_ + piece.size()) % text_.size();
      return false;
    }
    if (piece.starts_with(rest)) {
      piece.remove_prefix(rest.size());  // the second telling has caught up
    } else {
      add(text_.substr(0, again_));  // it was none, only a beginning like the answer's
    }
    again_ = 0;
    add(piece);
    return true;
  }
  void clear() {
    text_.clear();
    again_ = 0;
  }

 private:
  void add(std::string_view piece) { text_ += piece.substr(0, kMost - text_.size()); }

  static constexpr std::size_t kMost = std::size_t{64} * 1024;
  std::string text_;
  std::size_t again_ = 0;  // behind what was told a second time; 0: nothing was
};

class GeminiAdapter final : public AgentAdapter {
 public:
  [[nodiscard]] AdapterKind kind() const override { return AdapterKind::gemini; }

 private:
  void hear(Object& line) override {
    const std::string_view type = text_in(line, "type");
    if (type == "message") return hear_message(line);
    answer_.clear();
    if (type == "tool_use") return hear_tool(line);
    if (type == "tool_result") return hear_tool_result(line);
    if (type == "result") return hear_result(line);
    if (type == "error") return hear_error(line);
    if (type != "init") return weak();
    learn_session(text_in(line, "session_id"));
    start_turn();
  }

  void forget() override { answer_.clear(); }

  void hear_message(Object& line) {
    if (text_in(line, "role") != "assistant") return weak();
    const std::string_view content = text_in(line, "content");
    conversation_.said_something |= !content.empty();
    if (content.empty() || !answer_.is_news(content)) return noise();
    progress();
  }

  void hear_tool(Object& line) {
    const std::string_view id = name_in(line, "tool_id");
    if (id.empty()) return progress();
    const std::string_view tool = name_in(line, "tool_name");
    OpenCalls::Call& call = open_call(id, tool, raw_in(line, "parameters"));
    call.question = tool == "ask_user";
    say_open(call);
    if (call.question) put(Kind::ask).id = kept(call.id);
  }

  void hear_tool_result(Object& line) {
    const std::string_view id = name_in(line, "tool_id");
    std::string result(raw_in(line, "output"));
    if (auto why = object_in(line, "error")) {
      const std::string_view type = text_in(*why, "type");
      if (type == "tool_not_registered" || type == "policy_violation") ++conversation_.denied;
    }
    result += raw_in(line, "error");
    close_call(id, result);
  }

  void hear_error(Object& line) {
    if (text_in(line, "severity") == "warning") return weak();
    error(cause_word(text_in(line, "message")), false);
  }

  void hear_result(Object& line) {
    if (text_in(line, "status") == "success") return end_turn();
    auto why = object_in(line, "error");
    end_turn(cause_word(why ? text_in(*why, "message") : std::string_view{}));
  }

  static std::string_view cause_word(std::string_view message) {
    const Cause cause = cause_of_message(message);
    return cause == Cause::none ? "error" : kCauseWords[static_cast<std::size_t>(cause)];
  }

  Answer answer_;
};

}  // namespace

std::unique_ptr<Adapter> make_gemini_adapter() { return std::make_unique<GeminiAdapter>(); }

}  // namespace tend
