// Codex, `exec --json`. An `error` line is not the end, and a command that outlives its turn is
// never closed.
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "sense/agent_adapter.h"
#include "sense/causes.h"

namespace tend {
namespace {

using namespace stream;

bool is_tool(std::string_view type) {
  constexpr std::array<std::string_view, 5> kTools{"command_execution", "mcp_tool_call",
                                                   "web_search", "file_change", "collab_tool_call"};
  return std::ranges::find(kTools, type) != kTools.end();
}

/// Two changes of one file look the same, and so do two tasks for sub-agents, because what is in
/// them is not told: they are no circle.
bool tells_only_a_part(std::string_view type) {
  return type == "file_change" || type == "collab_tool_call";
}

std::string_view cause_word(std::string_view message, std::string_view otherwise) {
  const Cause cause = cause_of_message(message);
  return cause == Cause::none ? otherwise : kCauseWords[static_cast<std::size_t>(cause)];
}

class CodexAdapter final : public AgentAdapter {
 public:
  [[nodiscard]] AdapterKind kind() const override { return AdapterKind::codex; }

 private:
  void hear(Object& line) override {
    const std::string_view type = text_in(line, "type");
    if (type.starts_with("item.")) return hear_item(line, type);
    if (type == "turn.started") return start_turn();
    if (type == "turn.completed") return end_turn();
    if (type == "turn.failed") return hear_failure(line);
    if (type == "error") return hear_error(text_in(line, "message"));
    if (type == "thread.started") learn_session(text_in(line, "thread_id"));
    weak();
  }

  void hear_failure(Object& line) {
    auto why = object_in(line, "error");
    end_turn(cause_word(why ? text_in(*why, "message") : std::string_view{}, "error"));
  }

  /// It tries again by itself, and does not say when.
  void hear_error(std::string_view message) {
    if (!message.starts_with("Reconnecting")) return error(cause_word(message, "another"), false);
    set_cause(put(Kind::retry), cause_word(message, "network"));
  }

  void hear_item(Object& line, std::string_view event) {
    auto item = object_in(line, "item");
    if (!item) return weak();
    const std::string_view id = name_in(*item, "id");
    const std::string_view type = name_in(*item, "type");
    if (id.empty()) return weak();
    if (event == "item.started") return hear_start(*item, id, type);
    OpenCalls::Call* const call = calls_.find(id);
    if (event == "item.updated") {
      if (call == nullptr) return progress();
      return beat(*call);
    }
    if (event != "item.completed" || type == "error") return weak();
    conversation_.said_something |= type == "agent_message";
    if (text_in(*item, "status") == "declined") ++conversation_.denied;
    if (call == nullptr) {
      if (is_tool(type)) ++conversation_.tools;
      return progress();
    }
    std::string result(raw_in(*item, "aggregated_output"));
    result += raw_in(*item, "exit_code");
    result += raw_in(*item, "result");
    result += raw_in(*item, "error");
    close_call(id, result);
  }

  void hear_start(Object& item, std::string_view id, std::string_view type) {
    if (!is_tool(type)) return progress();
    std::string input(raw_in(item, "command"));
    for (const std::string_view part : {"server", "tool", "arguments", "query", "changes"}) {
      input += raw_in(item, part);
    }
    if (tells_only_a_part(type)) input += id;
    OpenCalls::Call& call = open_call(id, type, input);
    call.sub_agent = type == "collab_tool_call";
    say_open(call).child_tool = call.sub_agent;
  }
};

}  // namespace

std::unique_ptr<Adapter> make_codex_adapter() { return std::make_unique<CodexAdapter>(); }

}  // namespace tend
