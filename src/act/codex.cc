// Codex, as of 0.166.0. Only `codex exec` works without a terminal.
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

// Those of codex, of its exec and of exec's own subcommands: no name means two things.
constexpr auto kOptions = std::to_array<Option>({
    {"--json --experimental-json"},
    {"--worktree"},

    {"-i --image", many, Role::first_only},
    {"--last", nothing, Role::first_only},
    {"--all", nothing, Role::first_only},
    {"--ephemeral", nothing, Role::unkept},

    {"-h --help", nothing, Role::aside},
    {"-V --version", nothing, Role::aside},

    {"--approve-for-me"},
    {"--dangerously-bypass-approvals-and-sandbox --yolo"},
    {"--dangerously-bypass-hook-trust"},
    {"--ignore-rules"},
    {"--ignore-user-config"},
    {"--no-alt-screen"},
    {"--no-daemon"},
    {"--oss"},
    {"--search"},
    {"--skip-git-repo-check"},
    {"--strict-config"},
    {"--uncommitted"},

    {"--add-dir", one},
    {"-a --ask-for-approval", one},
    {"--base", one},
    {"-C --cd", one},
    {"--color", one},
    {"--commit", one},
    {"-c --config", one},
    {"--cyber-access-program", one},
    {"--disable", one},
    {"--enable", one},
    {"--local-provider", one},
    {"-m --model", one},
    {"-o --output-last-message", one},
    {"--output-schema", one},
    {"-p --profile", one},
    {"--remote", one},
    {"--remote-auth-token-env", one},
    {"-s --sandbox", one},
    {"--thread-source", one},
    {"--title", one},
});
constexpr Grammar kGrammar{Dialect::clap, kOptions};

constexpr auto kSubcommands = std::to_array<std::string_view>({"agents",
                                                               "login",
                                                               "logout",
                                                               "mcp",
                                                               "plugin",
                                                               "app-server",
                                                               "completion",
                                                               "remote-control",
                                                               "update",
                                                               "doctor",
                                                               "sandbox",
                                                               "debug",
                                                               "apply",
                                                               "a",
                                                               "queue",
                                                               "archive",
                                                               "delete",
                                                               "migrate-nfs-db",
                                                               "migrate-rollouts",
                                                               "unarchive",
                                                               "cloud",
                                                               "features",
                                                               "exec-server",
                                                               "help"});

/// codex ROOT exec REST.
struct Exec {
  Apart root;
  Apart rest;
  std::string subcommand;  // of exec: resume, fork, review, or ""
  Words words;             // behind it
};

/// The last piece of the root is the subcommand, if there is any.
std::string_view subcommand_of(const Apart& root) {
  if (root.pieces.empty() || root.pieces.back().kind != Piece::Kind::word) return {};
  // A word behind -- is a prompt.
  const auto separator = std::ranges::find(root.pieces, Piece::Kind::separator, &Piece::kind);
  return separator == root.pieces.end() ? root.pieces.back().words.front() : std::string_view{};
}

bool is_exec(std::string_view subcommand) { return subcommand == "exec" || subcommand == "e"; }

Exec read(std::span<const std::string> arguments) {
  Exec exec;
  exec.root = take_apart(kGrammar, arguments, UpTo::first_word);
  if (!is_exec(subcommand_of(exec.root))) return exec;
  exec.rest = take_apart(kGrammar, arguments.subspan(exec.root.count));
  exec.words = loose_words(exec.rest);
  const auto first = std::ranges::find_if(
      exec.rest.pieces, [](const Piece& piece) { return piece.kind != Piece::Kind::option; });
  if (first == exec.rest.pieces.end() || first->kind != Piece::Kind::word) return exec;
  for (const std::string_view known : {"resume", "fork", "review", "help"}) {
    if (exec.words.front() != known) continue;
    exec.subcommand = known;
    exec.words.erase(exec.words.begin());
    return exec;
  }
  return exec;
}

bool prompt_is_on_input(const Exec& exec) {
  if (exec.subcommand == "review") return false;
  const bool names_session =
      (exec.subcommand == "resume" && !find(exec.rest, "--last")) || exec.subcommand == "fork";
  const std::size_t prompt = names_session ? 1 : 0;
  return exec.words.size() <= prompt || exec.words[prompt] == "-";
}

Outfit outfit(std::span<const std::string> arguments) {
  const Exec exec = read(arguments);
  const std::string_view subcommand = subcommand_of(exec.root);
  Outfit result;
  const bool is_help = find(exec.root, Role::aside) != nullptr ||
                       find(exec.rest, Role::aside) != nullptr || exec.subcommand == "help";
  if (is_help || std::ranges::find(kSubcommands, subcommand) != kSubcommands.end()) return result;
  if (subcommand == "review") {
    result.manner = Manner::headless;
    result.as_it_is = result.dressed = AdapterKind::lines;
    result.remarks = {"codex review has no stream that could be understood: codex exec review has"};
    return result;
  }
  if (!is_exec(subcommand)) {
    result.manner = Manner::interactive;
    result.remarks = {"codex without exec is interactive: it needs a terminal"};
    return result;
  }
  result.manner = Manner::headless;
  result.prompt_on_input = prompt_is_on_input(exec);
  result.where = exec.root.count;
  result.dressed = AdapterKind::codex;
  if (find(exec.rest, "--json") != nullptr) {
    result.as_it_is = AdapterKind::codex;
  } else {
    result.as_it_is = AdapterKind::lines;
    result.options = {"--json"};
  }
  return result;
}

// `exec resume` refuses many options that stand behind it, and accepts all before it.
Result<Words> resumed(std::span<const std::string> arguments, Again again) {
  const Exec exec = read(arguments);
  if (!is_exec(subcommand_of(exec.root)) || exec.subcommand == "review" ||
      exec.subcommand == "help") {
    return fail("only codex exec can be resumed");
  }
  for (const Apart* apart : {&exec.root, &exec.rest}) {
    if (!apart->doubtful.empty()) {
      return fail(fmt::format("codex's option {} is not known here", apart->doubtful));
    }
    if (find(*apart, Role::unkept) != nullptr) return fail("codex --ephemeral keeps no session");
    if (find(*apart, "--worktree") != nullptr) {
      return fail("codex --worktree works in another one each time");
    }
  }
  Words result = kept_options(exec.root);
  result.emplace_back("exec");
  std::ranges::copy(kept_options(exec.rest), std::back_inserter(result));
  for (const std::string_view word : {std::string_view{"resume"}, again.session, again.prompt}) {
    result.emplace_back(word);
  }
  return result;
}

// sessions/YEAR/MONTH/DAY/rollout-TIME-THREAD.jsonl
Transcripts transcripts(std::string_view session, std::string_view /*working_folder*/,
                        std::string_view home, std::string_view moved_to) {
  return {.folders = {moved_to.empty() ? fmt::format("{}/.codex/sessions", home)
                                       : fmt::format("{}/sessions", moved_to)},
          .containing = std::string{session},
          .depth = 3};
}

}  // namespace

constinit const AgentRow kCodex{
    .name = "codex",
    .package = "@openai/codex",
    .folder_variable = "CODEX_HOME",
    .obedience = {.to_interrupt = true, .to_terminate = true, .has_inner = true},
    .outfit = outfit,
    .resumed = resumed,
    .transcripts = transcripts,
};

}  // namespace tend
