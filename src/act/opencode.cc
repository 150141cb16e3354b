// OpenCode, as of 1.18.33: also the options that its help leaves out. Only `opencode run` works
// without a terminal.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "act/agent_table.h"
#include "act/agent_words.h"

namespace tend {
namespace {

using enum Takes;
using Words = std::vector<std::string>;

// Those of opencode and of its run: either may stand before or behind the word.
constexpr auto kOptions = std::to_array<Option>({
    {"--format", one, Role::format},

    {"-c --continue", nothing, Role::first_only},
    {"-s --session", one, Role::first_only},
    {"--fork", nothing, Role::first_only},
    {"--title", one, Role::first_only},
    {"-f --file", many, Role::first_only},
    {"--command", one, Role::first_only},

    {"-i --interactive", nothing, Role::terminal},
    {"--mini", nothing, Role::terminal},

    {"-h --help", nothing, Role::aside},
    {"-v --version", nothing, Role::aside},

    {"--auto"},
    {"--dangerously-skip-permissions"},
    {"--demo"},
    {"--mdns"},
    {"--print-logs"},
    {"--pure"},
    {"--replay"},
    {"--share"},
    {"--thinking"},
    {"--yolo"},

    {"--agent", one},
    {"--attach", one},
    {"--cors", many},
    {"--dir", one},
    {"--hostname", one},
    {"--log-level", one},
    {"--mdns-domain", one},
    {"-m --model", one},
    {"-p --password", one},
    {"--port", one},
    {"--prompt", one},
    {"--replay-limit", one},
    {"-u --username", one},
    {"--variant", one},
});
constexpr Grammar kGrammar{Dialect::yargs, kOptions};

constexpr auto kSubcommands = std::to_array<std::string_view>(
    {"completion", "acp",    "mcp",    "debug",  "providers", "auth",  "agent",
     "upgrade",    "serve",  "web",    "models", "uninstall", "stats", "export",
     "import",     "github", "plugin", "plug",   "session",   "db"});

constexpr std::string_view kStream = "json";

/// opencode ROOT run REST.
struct Run {
  std::string subcommand;
  Apart root;
  Apart rest;
};

Run read(std::span<const std::string> arguments) {
  Run run{.root = take_apart(kGrammar, arguments, UpTo::first_word)};
  const Words words = loose_words(run.root);
  if (!words.empty()) run.subcommand = words.front();
  run.rest = take_apart(kGrammar, arguments.subspan(run.root.count));
  return run;
}

template <class What>
const Piece* find_in(const Run& run, What what) {
  const Piece* found = find(run.rest, what);
  return found != nullptr ? found : find(run.root, what);
}

Outfit outfit(std::span<const std::string> arguments) {
  const Run run = read(arguments);
  Outfit result;
  if (find_in(run, Role::aside) != nullptr ||
      std::ranges::find(kSubcommands, run.subcommand) != kSubcommands.end()) {
    return result;
  }
  if (run.subcommand != "run" || find_in(run, Role::terminal) != nullptr) {
    result.manner = Manner::interactive;
    result.remarks = {"opencode is interactive unless it is told to run: it needs a terminal"};
    return result;
  }
  result.manner = Manner::headless;
  result.prompt_on_input = loose_words(run.rest).empty() && find_in(run, "--command") == nullptr;
  result.where = run.root.count;
  const Piece* format = find_in(run, Role::format);
  result.as_it_is = AdapterKind::lines;
  result.dressed = AdapterKind::opencode;
  if (format == nullptr) {
    result.options = {"--format", std::string{kStream}};
  } else if (format->value == kStream) {
    result.as_it_is = AdapterKind::opencode;
  } else {
    result.dressed = AdapterKind::lines;
    result.remarks = {
        fmt::format("opencode --format {} is text for people: only {} can be understood",
                    format->value, kStream)};
  }
  return result;
}

// The prompt goes first: no option that stays can take it for its value there.
Result<Words> resumed(std::span<const std::string> arguments, Again again) {
  const Run run = read(arguments);
  if (run.subcommand != "run" || find_in(run, Role::terminal) != nullptr) {
    return fail("only opencode run can be resumed");
  }
  for (const Apart* apart : {&run.root, &run.rest}) {
    if (!apart->doubtful.empty()) {
      return fail(fmt::format("opencode's option {} is not known here", apart->doubtful));
    }
  }
  Words result = kept_options(run.root);
  for (const std::string_view word :
       {std::string_view{"run"}, std::string_view{"--session"}, again.session, again.prompt}) {
    result.emplace_back(word);
  }
  std::ranges::copy(kept_options(run.rest), std::back_inserter(result));
  return result;
}

// One database for all sessions: it grows for any of them.
Transcripts transcripts(std::string_view /*session*/, std::string_view /*working_folder*/,
                        std::string_view home, std::string_view moved_to) {
  const std::string database = moved_to.empty()
                                   ? fmt::format("{}/.local/share/opencode/opencode.db", home)
                                   : fmt::format("{}/opencode/opencode.db", moved_to);
  return {.files = {database, database + "-wal"}};
}

}  // namespace

constinit const AgentRow kOpencode{
    .name = "opencode",
    .package = "opencode-ai",
    .folder_variable = "XDG_DATA_HOME",
    .obedience = {.to_interrupt = false, .to_terminate = true},
    .outfit = outfit,
    .resumed = resumed,
    .transcripts = transcripts,
};

}  // namespace tend
