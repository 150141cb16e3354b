// Names end up on terminals and in arguments of commands, what a message says only with its agent:
// so names are plain lines, and a message is any text.
#include "store/gate_arrival.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/quote.h"
#include "store/gate.h"
#include "store/json.h"
#include "store/tasks.h"

namespace tend {
namespace {

using Fault = std::optional<ArrivalFault>;

Fault bad(GateRefusal why, std::string text) { return ArrivalFault{why, std::move(text)}; }

Fault fault_of_name(std::string_view what, std::string_view name, std::size_t most) {
  const auto ok = check_gate_name(what, name, most);
  return ok ? Fault{} : bad(GateRefusal::bad_name, ok.error().text);
}

/// Nobody may be known by no name.
Fault fault_of_agent(std::string_view agent) {
  return agent.empty() ? Fault{} : fault_of_name("the agent", agent, kLongestEndpoint);
}

Fault fault_of_names(const Message& draft) {
  if (auto fault = fault_of_agent(draft.agent)) return fault;
  if (auto fault = fault_of_name("the channel", draft.channel, kLongestEndpoint)) return fault;
  if (auto fault = fault_of_name("the endpoint", draft.endpoint, kLongestEndpoint)) return fault;
  return draft.key ? fault_of_name("the key", *draft.key, kLongestKey) : Fault{};
}

Fault fault_of_content(std::string_view content) {
  if (content.empty()) return bad(GateRefusal::empty, "the message is empty");
  if (content.size() > kLongestContent) {
    return bad(GateRefusal::too_large,
               fmt::format("the message has {} bytes; at most {} are allowed", content.size(),
                           kLongestContent));
  }
  if (!is_utf8(content)) return bad(GateRefusal::not_utf8, "the message is not valid UTF-8");
  if (content.contains('\0')) return bad(GateRefusal::has_nul, "the message has a NUL byte");
  return {};
}

Fault fault_of_words(const std::vector<std::string>& command) {
  const auto is_unfit = [](const std::string& word) {
    return !is_utf8(word) || word.contains('\0');
  };
  if (command.empty() || command.front().empty()) {
    return bad(GateRefusal::bad_reply, "the command for replies names no program");
  }
  if (command.size() > kMostReplyWords) {
    return bad(GateRefusal::bad_reply,
               fmt::format("the command for replies has {} words; at most {} are allowed",
                           command.size(), kMostReplyWords));
  }
  std::size_t size = 0;
  for (const std::string& word : command) size += word.size();
  if (size > kLongestReply) {
    return bad(GateRefusal::bad_reply,
               fmt::format("the command for replies has {} bytes; at most {} are allowed", size,
                           kLongestReply));
  }
  if (std::ranges::any_of(command, is_unfit)) {
    return bad(GateRefusal::bad_reply, "the command for replies is not valid UTF-8 without NUL");
  }
  return {};
}

Fault fault_of_reply(const ReplyWay& reply) {
  const std::pair<std::string_view, std::string_view> names[] = {
      {"the channel for replies", reply.channel},
      {"the endpoint for replies", reply.endpoint},
      {"the language", reply.language}};
  for (const auto& [what, name] : names) {
    if (name.empty()) continue;
    const auto ok = check_gate_name(what, name, kLongestEndpoint);
    if (!ok) return bad(GateRefusal::bad_reply, ok.error().text);
  }
  return fault_of_words(reply.command);
}

}  // namespace

Result<void> check_gate_name(std::string_view what, std::string_view name, std::size_t most) {
  if (name.empty()) return fail(fmt::format("{} is empty", what));
  if (name.size() > most) return fail(fmt::format("{} is longer than {} bytes", what, most));
  if (!is_utf8(name) || has_control_characters(name)) {
    return fail(fmt::format("{} {} is not one printable line", what, in_quotes(name)));
  }
  return {};
}

std::optional<ArrivalFault> check_arrival(const Arrival& arrival) {
  const Message& draft = arrival.draft;
  if (auto fault = fault_of_names(draft)) return fault;
  if (draft.priority < kFirstPriority || draft.priority > kLastPriority) {
    return bad(GateRefusal::bad_priority,
               fmt::format("the priority {} is none; allowed: {} (first) to {}", draft.priority,
                           kFirstPriority, kLastPriority));
  }
  if (auto fault = fault_of_content(draft.content)) return fault;
  return arrival.reply ? fault_of_reply(*arrival.reply) : Fault{};
}

}  // namespace tend
