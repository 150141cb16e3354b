// JSON that keeps its order, written again with the indentation that was found.
#include "app/hooks_file.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/quote.h"

namespace tend {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kDeepest = 200;
constexpr std::string_view kBlanks = " \t\r\n";

// A call's opening and its end are told in their order, so those hooks are waited for.
constexpr HookedEvent kClaude[] = {
    {.event = "SessionStart"},
    {.event = "UserPromptSubmit"},
    {.event = "PreToolUse"},
    {.event = "PermissionRequest"},
    {.event = "PostToolUse"},
    {.event = "PostToolUseFailure"},
    {.event = "Notification", .async = true},
    {.event = "SubagentStart", .async = true},
    {.event = "SubagentStop", .async = true},
    {.event = "PreCompact"},
    {.event = "PostCompact"},
    {.event = "Stop"},
    {.event = "StopFailure"},
    {.event = "SessionEnd"},
};
constexpr HookedEvent kCodex[] = {
    {.event = "SessionStart"},
    {.event = "UserPromptSubmit"},
    {.event = "PreToolUse"},
    {.event = "PermissionRequest"},
    {.event = "PostToolUse"},
    {.event = "PreCompact"},
    {.event = "PostCompact"},
    {.event = "SubagentStart"},
    {.event = "SubagentStop"},
    {.event = "Stop"},
    {.event = "SessionEnd", .longest_seconds = 3},  // more is not allowed there
};
// Not AfterModel: it is waited for at every piece of an answer, and is given the whole request.
constexpr HookedEvent kGemini[] = {
    {.event = "SessionStart"}, {.event = "BeforeAgent"}, {.event = "BeforeModel"},
    {.event = "BeforeTool"},   {.event = "AfterTool"},   {.event = "AfterAgent"},
    {.event = "Notification"}, {.event = "PreCompress"}, {.event = "SessionEnd"},
};

// ---- Text and JSON

std::string place(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;  // npos + 1 is 0
  return fmt::format("line {}, column {}", line, column);
}

/// Where it is nested too deep to be walked; nullopt if it is not.
std::optional<std::size_t> too_deep_at(std::string_view text) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text && c == '\\') ++i;
    if (c == '"') in_text = !in_text;
    if (in_text) continue;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kDeepest) return i;
  }
  return std::nullopt;
}

Result<Json> parse(std::string_view text) {
  if (text.find_first_not_of(kBlanks) == text.npos) return Json::object();
  if (const auto deep = too_deep_at(text)) return fail(place(text, *deep) + ": nested too deep");
  try {
    auto json = Json::parse(text);
    if (!json.is_object()) return fail("line 1: it is no JSON object");
    return json;
  } catch (const nlohmann::json::parse_error& error) {
    const std::size_t offset = error.byte > 0 ? error.byte - 1 : 0;
    return fail(place(text, offset) + ": it is no JSON");
  }
}

struct Layout {
  int indent = 2;  // -1: all on one line
  char with = ' ';
  bool newline = true;  // at the end
};

Layout layout_of(std::string_view text) {
  Layout layout;
  if (text.find_first_not_of(kBlanks) == text.npos) return layout;
  layout.newline = text.ends_with('\n');
  const std::size_t first = text.find('\n');
  const std::size_t from = text.find_first_not_of("\r\n", std::min(first, text.size()));
  if (from == text.npos) {
    if (text.find_first_not_of("{} \t\r\n") != text.npos) layout.indent = -1;
    return layout;
  }
  const std::size_t to = text.find_first_not_of(" \t", from);
  if (to == text.npos || to == from) return layout;
  layout.with = text[from];
  layout.indent = static_cast<int>(to - from);
  return layout;
}

std::string write(const Json& json, const Layout& layout) {
  std::string text = json.dump(layout.indent, layout.with, false, Json::error_handler_t::replace);
  if (layout.newline) text += '\n';
  return text;
}

// ---- Commands

std::string for_the_shell(const std::string& path) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-+@:,=%").find(c) != std::string_view::npos;
  };
  if (!path.empty() && std::ranges::all_of(path, is_plain)) return path;
  std::string quoted = "'";
  for (const char c : path) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string from_the_shell(std::string_view word) {
  if (word.size() < 2 || word.front() != '\'' || word.back() != '\'') return std::string(word);
  std::string path(word.substr(1, word.size() - 2));
  constexpr std::string_view kQuote = "'\\''";
  for (std::size_t at = 0; (at = path.find(kQuote, at)) != path.npos; ++at) {
    path.replace(at, kQuote.size(), "'");
  }
  return path;
}

std::string arguments_of(HookAgent agent) {
  return " hook " + std::string(kHookAgents[static_cast<std::size_t>(agent)]);
}

constexpr std::string_view kStartsService = " service start --caller";
constexpr std::string_view kStopsService = " service stop --caller";
constexpr int kServiceMayTake = 15;  // seconds: to come, or to be ended

bool is_tend(const std::string& program) { return program == "tend" || program.ends_with("/tend"); }

/// Which handlers are meant.
using Ours = bool (*)(const Json& handler, HookAgent agent);

/// One that starts or ends a beater.
bool is_service(const Json& handler, HookAgent /*agent*/) {
  const auto command = handler.is_object() ? handler.find("command") : handler.end();
  if (command == handler.end() || !command->is_string()) return false;
  const std::string_view text = command->get_ref<const std::string&>();
  for (const std::string_view words : {kStartsService, kStopsService}) {
    const auto at = text.find(words);
    if (at != text.npos && is_tend(from_the_shell(text.substr(0, at)))) return true;
  }
  return false;
}

/// The program of a handler of ours; "" for those of others.
std::string program_of(const Json& handler, HookAgent agent) {
  if (!handler.is_object()) return "";
  const auto command = handler.find("command");
  if (command == handler.end() || !command->is_string()) return "";
  std::string_view text = command->get_ref<const std::string&>();
  const std::string arguments = arguments_of(agent);
  if (!text.ends_with(arguments)) return "";
  text.remove_suffix(arguments.size());
  std::string program = from_the_shell(text);
  return is_tend(program) ? program : "";
}

bool is_hook(const Json& handler, HookAgent agent) { return !program_of(handler, agent).empty(); }
bool is_either(const Json& handler, HookAgent agent) {
  return is_hook(handler, agent) || is_service(handler, agent);
}

Json handler_of(HookAgent agent, std::string_view name, const std::string& command, int seconds) {
  constexpr int kMillisecond = 1000;  // gemini's unit; the others count seconds
  Json handler = Json::object();
  if (agent == HookAgent::gemini) handler["name"] = name;
  handler["type"] = "command";
  handler["command"] = command;
  handler["timeout"] = seconds * (agent == HookAgent::gemini ? kMillisecond : 1);
  return handler;
}

Json handler_for(const HookedEvent& row, HookAgent agent, const std::string& program) {
  Json handler =
      handler_of(agent, "tend", for_the_shell(program) + arguments_of(agent), row.longest_seconds);
  if (row.async && agent == HookAgent::claude) handler["async"] = true;
  return handler;
}

Json service_handler(HookAgent agent, const std::string& program, std::string_view verb,
                     const std::vector<std::string>& words, int seconds) {
  std::string command = for_the_shell(program) + std::string(verb);
  for (const std::string& word : words) command += " " + for_the_shell(word);
  return handler_of(agent, "tend-service", command, seconds);
}

// ---- Groups of handlers: {"matcher": "...", "hooks": [handler, ...]}

Json* handlers_of(Json& group) {
  if (!group.is_object()) return nullptr;
  const auto found = group.find("hooks");
  return found == group.end() || !found->is_array() ? nullptr : &*found;
}

/// Removes our handlers from the groups of one event, but the first `kept` of them. A group that is
/// empty because of this goes too.
bool remove_ours(Json& groups, HookAgent agent, std::size_t kept, Ours is_ours) {
  bool removed = false;
  for (std::size_t g = 0; g < groups.size();) {
    Json* const handlers = handlers_of(groups[g]);
    bool removed_here = false;
    for (std::size_t h = 0; handlers != nullptr && h < handlers->size();) {
      const bool ours = is_ours((*handlers)[h], agent);
      if (ours && kept == 0) {
        handlers->erase(h);
        removed_here = true;
        continue;
      }
      if (ours) --kept;
      ++h;
    }
    removed = removed || removed_here;
    if (removed_here && handlers->empty()) {
      groups.erase(g);
    } else {
      ++g;
    }
  }
  return removed;
}

Json* first_of_ours(Json& groups, HookAgent agent, Ours is_ours) {
  for (Json& group : groups) {
    Json* const handlers = handlers_of(group);
    if (handlers == nullptr) continue;
    for (Json& handler : *handlers) {
      if (is_ours(handler, agent)) return &handler;
    }
  }
  return nullptr;
}

/// Whether something had to change for `groups` to hold exactly this handler of ours.
bool put(Json& groups, HookAgent agent, const Json& wanted, Ours is_ours) {
  const bool removed = remove_ours(groups, agent, 1, is_ours);
  Json* const ours = first_of_ours(groups, agent, is_ours);
  if (ours == nullptr) {
    Json group = Json::object();
    group["hooks"] = Json::array({wanted});
    groups.push_back(std::move(group));
    return true;
  }
  const bool differs = *ours != wanted;
  if (differs) *ours = wanted;
  return removed || differs;
}

bool is_hooked(HookAgent agent, std::string_view event) {
  return std::ranges::find(hooked_events(agent), event, &HookedEvent::event) !=
         hooked_events(agent).end();
}

/// Removes ours from all events, or from those that are not hooked any more.
bool remove_from_events(Json& hooks, HookAgent agent, bool also_hooked, Ours is_ours) {
  std::vector<std::string> empty;
  bool removed = false;
  for (auto& [event, groups] : hooks.items()) {
    if (!groups.is_array() || (!also_hooked && is_hooked(agent, event))) continue;
    if (!remove_ours(groups, agent, 0, is_ours)) continue;
    removed = true;
    if (groups.empty()) empty.push_back(event);
  }
  for (const std::string& event : empty) hooks.erase(event);
  return removed;
}

Result<bool> put_at(Json& hooks, const std::string& event, HookAgent agent, const Json& wanted,
                    Ours is_ours) {
  if (!hooks.contains(event)) hooks[event] = Json::array();
  Json& groups = hooks[event];
  if (!groups.is_array()) return fail("\"hooks\"." + in_quotes(event) + " in it is no list");
  return put(groups, agent, wanted, is_ours);
}

/// The text with its hooks changed; the very same if `change` says that nothing was.
Result<std::string> changed_text(std::string_view text,
                                 const std::function<Result<bool>(Json& hooks)>& change) {
  auto json = parse(text);
  if (!json) return std::unexpected(json.error());
  if (!json->contains("hooks")) (*json)["hooks"] = Json::object();
  Json& hooks = (*json)["hooks"];
  if (!hooks.is_object()) return fail("\"hooks\" in it is no object");
  const auto changed = change(hooks);
  if (!changed) return std::unexpected(changed.error());
  return *changed ? write(*json, layout_of(text)) : std::string(text);
}

}  // namespace

std::span<const HookedEvent> hooked_events(HookAgent agent) {
  switch (agent) {
    case HookAgent::claude:
      return kClaude;
    case HookAgent::codex:
      return kCodex;
    case HookAgent::gemini:
      break;
  }
  return kGemini;
}

Result<std::string> with_hooks(std::string_view text, HookAgent agent, const std::string& program) {
  return changed_text(text, [&](Json& hooks) -> Result<bool> {
    bool changed = remove_from_events(hooks, agent, false, is_hook);
    for (const HookedEvent& row : hooked_events(agent)) {
      const auto done =
          put_at(hooks, std::string(row.event), agent, handler_for(row, agent, program), is_hook);
      if (!done) return done;
      changed = changed || *done;
    }
    return changed;
  });
}

Result<std::string> with_service(std::string_view text, HookAgent agent, const std::string& program,
                                 const ServiceWords& words) {
  constexpr int kMostAtTheEnd = 3;  // what all of them allow there
  return changed_text(text, [&](Json& hooks) -> Result<bool> {
    const auto starts = put_at(
        hooks, "SessionStart", agent,
        service_handler(agent, program, kStartsService, words.start, kServiceMayTake), is_service);
    if (!starts) return starts;
    const auto stops =
        put_at(hooks, "SessionEnd", agent,
               service_handler(agent, program, kStopsService, words.stop,
                               agent == HookAgent::codex ? kMostAtTheEnd : kServiceMayTake),
               is_service);
    if (!stops) return stops;
    return *starts || *stops;
  });
}

Result<std::string> without_hooks(std::string_view text, HookAgent agent) {
  auto json = parse(text);
  if (!json) return std::unexpected(json.error());
  const auto hooks = json->find("hooks");
  if (hooks == json->end() || !hooks->is_object()) return std::string(text);
  if (!remove_from_events(*hooks, agent, true, is_either)) return std::string(text);
  if (hooks->empty()) json->erase("hooks");
  return write(*json, layout_of(text));
}

Result<HooksFound> find_hooks(std::string_view text, HookAgent agent) {
  auto json = parse(text);
  if (!json) return std::unexpected(json.error());
  HooksFound found;
  const auto hooks = json->find("hooks");
  if (hooks == json->end() || !hooks->is_object()) return found;
  for (const HookedEvent& row : hooked_events(agent)) {
    const auto groups = hooks->find(std::string(row.event));
    if (groups == hooks->end() || !groups->is_array()) continue;
    if (first_of_ours(*groups, agent, is_service) != nullptr) found.service = true;
    const Json* const ours = first_of_ours(*groups, agent, is_hook);
    if (ours == nullptr) continue;
    ++found.events;
    found.programs.insert(program_of(*ours, agent));
  }
  return found;
}

}  // namespace tend
