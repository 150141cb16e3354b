// Gemini CLI, as of 0.61.0: also the options that its help leaves out.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "act/agent_table.h"
#include "act/agent_words.h"

namespace tend {
namespace {

using enum Takes;
using Words = std::vector<std::string>;

constexpr auto kOptions = std::to_array<Option>({
    {"-p --prompt", one, Role::prompt},
    {"-o --output-format", one, Role::format},
    {"-i --prompt-interactive", one, Role::terminal},
    {"-w --worktree", perhaps, Role::unkept},

    {"-r --resume", perhaps, Role::first_only},
    {"--session-id", one, Role::first_only},
    {"--session-file", one, Role::first_only},

    {"--acp --experimental-acp", nothing, Role::aside},
    {"--delete-session", perhaps, Role::aside},
    {"-h --help", nothing, Role::aside},
    {"-l --list-extensions", nothing, Role::aside},
    {"--list-sessions", nothing, Role::aside},
    {"-v --version", nothing, Role::aside},

    {"--accept-raw-output-risk"},
    {"-d --debug"},
    {"--raw-output"},
    {"-s --sandbox"},
    {"--screen-reader"},
    {"--skip-trust"},
    {"-y --yolo"},

    {"--admin-policy", one},
    {"--allowed-mcp-server-names", one},
    {"--allowed-tools", one},
    {"--approval-mode", one},
    {"-e --extensions", one},
    {"--fake-responses", one},
    {"--fake-responses-non-strict", one},
    {"--include-directories", one},
    {"-m --model", one},
    {"--policy", one},
    {"--record-responses", one},
});
constexpr Grammar kGrammar{Dialect::yargs, kOptions};

constexpr auto kSubcommands = std::to_array<std::string_view>(
    {"mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma"});

constexpr std::string_view kStream = "stream-json";

bool manages(const Apart& apart) {
  const Words words = loose_words(apart);
  return find(apart, Role::aside) != nullptr ||
         (!words.empty() && std::ranges::find(kSubcommands, words.front()) != kSubcommands.end());
}

std::string prompt_of(const Apart& apart) {
  const Piece* prompt = find(apart, Role::prompt);
  return prompt != nullptr ? prompt->value : fmt::format("{}", fmt::join(loose_words(apart), " "));
}

Outfit outfit(std::span<const std::string> arguments) {
  const Apart apart = take_apart(kGrammar, arguments);
  Outfit result;
  if (manages(apart)) return result;
  const Piece* format = find(apart, Role::format);
  const bool has_prompt = !prompt_of(apart).empty();
  if (find(apart, Role::terminal) != nullptr || (!has_prompt && format == nullptr)) {
    result.manner = Manner::interactive;
    result.remarks = {"gemini without -p is interactive: it needs a terminal"};
    return result;
  }
  result.manner = Manner::headless;
  result.prompt_on_input = !has_prompt;
  result.dressed = AdapterKind::gemini;
  if (format == nullptr) {
    result.as_it_is = AdapterKind::lines;
    result.options = {"--output-format", std::string{kStream}};
  } else if (format->value == kStream) {
    result.as_it_is = AdapterKind::gemini;
  } else {
    // json is printed at the end, text as it comes.
    result.as_it_is = result.dressed =
        format->value == "json" ? AdapterKind::none : AdapterKind::lines;
    result.remarks = {fmt::format("gemini --output-format {} cannot be understood: only {} can",
                                  format->value, kStream)};
  }
  return result;
}

// A session that was killed in its first turn comes back under its id and with no memory, and
// without a terminal there is but one turn: so the prompt is said again.
Result<Words> resumed(std::span<const std::string> arguments, Again again) {
  const Apart apart = take_apart(kGrammar, arguments);
  if (manages(apart) || find(apart, Role::terminal) != nullptr) {
    return fail("only gemini -p can be resumed");
  }
  if (!apart.doubtful.empty()) {
    return fail(fmt::format("gemini's option {} is not known here", apart.doubtful));
  }
  if (find(apart, Role::unkept) != nullptr) {
    return fail("gemini --worktree works in another one each time");
  }
  const std::string prompt = prompt_of(apart);
  if (prompt.empty()) return fail("gemini forgets a prompt that was given on its input");
  Words result{"--resume", std::string{again.session}, "--prompt",
               fmt::format("{}\n\nThis was the task:\n{}", again.prompt, prompt)};
  std::ranges::copy(kept_options(apart), std::back_inserter(result));
  return result;
}

// tmp/PROJECT/chats/session-TIME-xxxxxxxx.jsonl, and what PROJECT is called is gemini's own choice.
Transcripts transcripts(std::string_view session, std::string_view /*working_folder*/,
                        std::string_view home, std::string_view moved_to) {
  constexpr std::size_t kLettersOfSession = 8;
  return {.folders = {fmt::format("{}/.gemini/tmp", moved_to.empty() ? home : moved_to)},
          .containing = std::string{session.substr(0, kLettersOfSession)},
          .depth = 2};
}

}  // namespace

constinit const AgentRow kGemini{
    .name = "gemini",
    .package = "@google/gemini-cli",
    .folder_variable = "GEMINI_CLI_HOME",
    .obedience = {.to_interrupt = false, .to_terminate = false, .has_inner = true},
    .outfit = outfit,
    .resumed = resumed,
    .transcripts = transcripts,
};

}  // namespace tend
