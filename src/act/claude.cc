// Claude Code, as of 2.1.197: also the options that its help leaves out.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "act/agent_table.h"
#include "act/agent_words.h"

namespace tend {
namespace {

using enum Takes;
using Words = std::vector<std::string>;

constexpr auto kOptions = std::to_array<Option>({
    {"-p --print", nothing, Role::headless},
    {"--output-format", one, Role::format},
    {"--verbose"},
    {"--include-partial-messages"},
    {"--input-format", one},
    {"-w --worktree", perhaps},

    {"-c --continue", nothing, Role::first_only},
    {"-r --resume", perhaps, Role::first_only},
    {"--session-id", one, Role::first_only},
    {"--fork-session", nothing, Role::first_only},
    {"--from-pr", perhaps, Role::first_only},
    {"--resume-session-at", one, Role::first_only},

    {"--no-session-persistence", nothing, Role::unkept},
    {"--cloud", perhaps, Role::unkept},
    {"--remote", perhaps, Role::unkept},
    {"--teleport", perhaps, Role::unkept},
    {"--sdk-url", one, Role::unkept},

    {"--tmux", nothing, Role::terminal},
    {"--remote-control --rc", perhaps, Role::terminal},

    {"-h --help", nothing, Role::aside},
    {"-v --version", nothing, Role::aside},
    {"--bg --background", nothing, Role::aside},
    {"--init-only", nothing, Role::aside},
    {"--rewind-files", one, Role::aside},

    {"--allow-dangerously-skip-permissions"},
    {"--ax-screen-reader"},
    {"--bare"},
    {"--brief"},
    {"--chrome"},
    {"--dangerously-skip-permissions"},
    {"--debug-to-stderr"},
    {"--disable-slash-commands"},
    {"--enable-auth-status"},
    {"--enable-auto-mode"},
    {"--exclude-dynamic-system-prompt-sections"},
    {"--ide"},
    {"--include-hook-events"},
    {"--init"},
    {"--maintenance"},
    {"--no-chrome"},
    {"--plan-mode-required"},
    {"--replay-user-messages"},
    {"--reply-on-resume"},
    {"--safe-mode"},
    {"--session-mirror"},
    {"--strict-mcp-config"},

    {"-d --debug", perhaps},
    {"--prompt-suggestions", perhaps},

    {"--advisor", one},
    {"--agent", one},
    {"--agent-color", one},
    {"--agent-id", one},
    {"--agent-name", one},
    {"--agent-type", one},
    {"--agents", one},
    {"--append-system-prompt", one},
    {"--append-system-prompt-file", one},
    {"--debug-file", one},
    {"--effort", one},
    {"--fallback-model", one},
    {"--json-schema", one},
    {"--managed-settings", one},
    {"--max-budget-usd", one},
    {"--max-thinking-tokens", one},
    {"--max-turns", one},
    {"--model", one},
    {"-n --name", one},
    {"--parent-session-id", one},
    {"--permission-mode", one},
    {"--permission-prompt-tool", one},
    {"--plan-mode-instructions", one},
    {"--plugin-dir", one},
    {"--plugin-dir-no-mcp", one},
    {"--plugin-url", one},
    {"--prefill", one},
    {"--remote-control-session-name-prefix", one},
    {"--setting-sources", one},
    {"--settings", one},
    {"--system-prompt", one},
    {"--system-prompt-file", one},
    {"--task-budget", one},
    {"--team-name", one},
    {"--teammate-mode", one},
    {"--thinking", one},
    {"--thinking-display", one},
    {"--workload", one},

    {"--add-dir", many},
    {"--allowedTools --allowed-tools", many},
    {"--betas", many},
    {"--channels", many},
    {"--dangerously-load-development-channels", many},
    {"--disallowedTools --disallowed-tools", many},
    {"--file", many},
    {"--mcp-config", many},
    {"--tools", many},
});
constexpr Grammar kGrammar{Dialect::commander, kOptions};

constexpr auto kSubcommands = std::to_array<std::string_view>(
    {"agents", "auth", "auto-mode", "doctor", "gateway", "install", "mcp", "plugin", "plugins",
     "project", "setup-token", "ultrareview", "update", "upgrade"});

constexpr std::string_view kStream = "stream-json";

bool manages(const Apart& apart) {
  if (find(apart, Role::aside) != nullptr) return true;
  if (apart.pieces.empty() || apart.pieces.front().kind != Piece::Kind::word) return false;
  return std::ranges::find(kSubcommands, apart.pieces.front().words.front()) != kSubcommands.end();
}

bool input_is_stream(const Apart& apart) {
  const Piece* input = find(apart, "--input-format");
  return input != nullptr && input->value == kStream;
}

Outfit outfit(std::span<const std::string> arguments) {
  const Apart apart = take_apart(kGrammar, arguments);
  Outfit result;
  if (manages(apart)) return result;
  if (find(apart, Role::headless) == nullptr || find(apart, Role::terminal) != nullptr) {
    result.manner = Manner::interactive;
    result.remarks = {"claude without -p is interactive: it needs a terminal"};
    return result;
  }
  result.manner = Manner::headless;
  result.input_is_stream = input_is_stream(apart);
  result.prompt_on_input = loose_words(apart).empty() || result.input_is_stream;
  const Piece* format = find(apart, Role::format);
  if (format != nullptr && format->value != kStream) {
    result.remarks = {fmt::format(
        "claude --output-format {} says nothing before its end: only {} can be understood",
        format->value, kStream)};
    return result;
  }
  const bool is_verbose = find(apart, "--verbose") != nullptr;
  if (format == nullptr) result.options = {"--output-format", std::string{kStream}};
  if (!is_verbose) result.options.emplace_back("--verbose");
  if (find(apart, "--include-partial-messages") == nullptr) {
    result.options.emplace_back("--include-partial-messages");
  }
  result.environment = {"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1"};
  if (format != nullptr && is_verbose) result.as_it_is = AdapterKind::claude;
  result.dressed = AdapterKind::claude;
  return result;
}

// The prompt goes first: behind --allowedTools and its like it would be taken for one more tool.
Result<Words> resumed(std::span<const std::string> arguments, Again again) {
  const Apart apart = take_apart(kGrammar, arguments);
  if (manages(apart) || find(apart, Role::headless) == nullptr) {
    return fail("only claude -p can be resumed");
  }
  if (!apart.doubtful.empty()) {
    return fail(fmt::format("claude's option {} is not known here", apart.doubtful));
  }
  if (const Piece* unkept = find(apart, Role::unkept)) {
    return fail(fmt::format("claude {} keeps no session", unkept->words.front()));
  }
  if (input_is_stream(apart) && !again.prompt.empty()) {
    return fail("claude --input-format stream-json takes its prompts from its input alone");
  }
  if (const Piece* worktree = find(apart, "--worktree"); worktree && worktree->value.empty()) {
    return fail("claude --worktree without a name works in another one each time");
  }
  Words result{"--resume", std::string{again.session}};
  if (!again.prompt.empty()) result.emplace_back(again.prompt);
  std::ranges::copy(kept_options(apart), std::back_inserter(result));
  return result;
}

/// The folder of a project is named after its path, a dash for each UTF-16 unit that is no letter
/// or digit of ASCII.
std::string dashed(std::string_view path) {
  std::string result;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0U) == 0x80U) continue;
    if (byte < 0x80U && std::isalnum(byte) != 0) {
      result += c;
    } else {
      result.append(byte >= 0xf0U ? 2 : 1, '-');
    }
  }
  return result;
}

Transcripts transcripts(std::string_view session, std::string_view working_folder,
                        std::string_view home, std::string_view moved_to) {
  const std::string projects = moved_to.empty() ? fmt::format("{}/.claude/projects", home)
                                                : fmt::format("{}/projects", moved_to);
  const std::string name = dashed(working_folder);
  // A longer one is cut, and made unique in a way that is claude's own.
  constexpr std::size_t kLongest = 200;
  if (name.empty() || name.size() > kLongest) {
    return {.folders = {projects}, .containing = std::string{session}, .depth = 1};
  }
  const std::string stem = fmt::format("{}/{}/{}", projects, name, session);
  return {.files = {stem + ".jsonl"}, .folders = {stem + "/subagents"}, .containing = ".jsonl"};
}

}  // namespace

constinit const AgentRow kClaude{
    .name = "claude",
    .package = "@anthropic-ai/claude-code",
    .folder_variable = "CLAUDE_CONFIG_DIR",
    .obedience = {.to_interrupt = true, .to_terminate = true},
    .outfit = outfit,
    .resumed = resumed,
    .transcripts = transcripts,
};

}  // namespace tend
