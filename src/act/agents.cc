// Puts together what each agent's own file says.
#include "act/agents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "act/agent_table.h"
#include "base/check.h"
#include "base/quote.h"

namespace tend {
namespace {

using Words = std::vector<std::string>;

bool is_named_in(std::span<const std::string> environment, std::string_view variable) {
  const std::string_view name_and_equals = variable.substr(0, variable.find('=') + 1);
  return std::ranges::any_of(
      environment, [&](const std::string& other) { return other.starts_with(name_and_equals); });
}

/// It goes into a command line and into a path, and comes from a stream that anybody may have
/// written.
bool can_be_session(std::string_view id) {
  constexpr std::size_t kLongest = 128;
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_';
  };
  return !id.empty() && id.size() <= kLongest && !id.starts_with('-') &&
         std::ranges::all_of(id, is_plain);
}

const AgentRow& must_know(AdapterKind agent) {
  const AgentRow* row = row_of(agent);
  CHECK(row != nullptr);
  return *row;
}

}  // namespace

const AgentRow* row_of(AdapterKind agent) {
  switch (agent) {
    case AdapterKind::claude:
      return &kClaude;
    case AdapterKind::codex:
      return &kCodex;
    case AdapterKind::opencode:
      return &kOpencode;
    case AdapterKind::gemini:
      return &kGemini;
    case AdapterKind::lines:
    case AdapterKind::none:
    case AdapterKind::by_itself:
      return nullptr;
  }
  return nullptr;
}

Dressed dress(AgentStart start, std::span<const std::string> command,
              std::span<const std::string> environment, Dressing dressing) {
  CHECK(start.arguments <= command.size());
  Outfit outfit = must_know(start.kind).outfit(command.subspan(start.arguments));
  Dressed result{
      .command = {command.begin(), command.end()},
      .manner = outfit.manner,
      .adapter = outfit.as_it_is,
      .prompt_on_input = outfit.prompt_on_input,
      .input_is_stream = outfit.input_is_stream,
      .remarks = std::move(outfit.remarks),
  };
  if (dressing == Dressing::as_is) return result;
  result.adapter = outfit.dressed;
  const auto where = static_cast<std::ptrdiff_t>(start.arguments + outfit.where);
  result.command.insert(result.command.begin() + where, outfit.options.begin(),
                        outfit.options.end());
  std::ranges::remove_copy_if(
      outfit.environment, std::back_inserter(result.environment),
      [&](const std::string& variable) { return is_named_in(environment, variable); });
  return result;
}

Result<Words> resume_command(AgentStart start, std::span<const std::string> command,
                             std::string_view session, std::string_view prompt) {
  CHECK(start.arguments <= command.size());
  const bool on_input = prompt.empty() && dress(start, command, {}).input_is_stream;
  if (!on_input && (prompt.empty() || prompt.starts_with('-'))) {
    return fail(fmt::format("{} cannot be a prompt", in_quotes(prompt)));
  }
  if (!can_be_session(session)) {
    return fail(fmt::format("{} cannot be the id of a session", in_quotes(session)));
  }
  const auto arguments =
      must_know(start.kind)
          .resumed(command.subspan(start.arguments), {.session = session, .prompt = prompt});
  if (!arguments) return arguments;
  Words result{command.begin(), command.begin() + static_cast<std::ptrdiff_t>(start.arguments)};
  std::ranges::copy(*arguments, std::back_inserter(result));
  return result;
}

std::vector<std::string> anew_command(AgentStart start, std::span<const std::string> command) {
  constexpr std::string_view kName = "--session-id";
  std::vector<std::string> result(command.begin(), command.end());
  if (start.kind != AdapterKind::claude) return result;
  for (std::size_t i = start.arguments; i < result.size() && result[i] != "--";) {
    const bool two_words = result[i] == kName && i + 1 < result.size();
    if (!two_words && !result[i].starts_with(std::string(kName) + "=")) {
      ++i;
      continue;
    }
    const auto at = result.begin() + static_cast<std::ptrdiff_t>(i);
    result.erase(at, at + (two_words ? 2 : 1));
  }
  return result;
}

std::string_view headless_form_of(AdapterKind agent) {
  switch (agent) {
    case AdapterKind::claude:
      return "claude -p PROMPT";
    case AdapterKind::codex:
      return "codex exec PROMPT";
    case AdapterKind::opencode:
      return "opencode run PROMPT";
    case AdapterKind::gemini:
      return "gemini -p PROMPT";
    case AdapterKind::lines:
    case AdapterKind::none:
    case AdapterKind::by_itself:
      break;
  }
  return "";
}

std::vector<std::string> usual_limits(AdapterKind agent) {
  switch (agent) {
    case AdapterKind::codex:
    case AdapterKind::gemini:
      return {"model=30m"};
    case AdapterKind::opencode:
      return {"start=10m", "model=30m"};  // its first line is the model's first byte
    case AdapterKind::claude:
    case AdapterKind::lines:
    case AdapterKind::none:
    case AdapterKind::by_itself:
      break;
  }
  return {};
}

Obedience obedience_of(AdapterKind agent) { return must_know(agent).obedience; }

std::string_view folder_variable_of(AdapterKind agent) { return must_know(agent).folder_variable; }

Transcripts transcripts_of(AdapterKind agent, std::string_view session,
                           std::string_view working_folder, std::string_view home,
                           std::string_view moved_to) {
  if (!can_be_session(session)) return {};
  return must_know(agent).transcripts(session, working_folder, home, moved_to);
}

}  // namespace tend
