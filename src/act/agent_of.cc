// Finds the agent in a command: past the programs that only start another one.
#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "act/agent_table.h"

namespace tend {
namespace {

constexpr auto kAgents = std::to_array<AdapterKind>(
    {AdapterKind::claude, AdapterKind::codex, AdapterKind::opencode, AdapterKind::gemini});

/// What the word means that a program in front of another is given behind its options.
enum class Then { program, script, package };

struct Prefix {
  std::string_view name;
  std::string_view flags;   // " -i --x "
  std::string_view valued;  // those with a value: -k 5, -k5, --kill-after=5, --kill-after 5
  std::size_t words = 0;    // that it takes for itself
  bool sets_variables = false;
  bool has_more_flags = false;  // than are told here
  Then then = Then::program;
};

// An option that is not told here means that the command is not understood.
constexpr auto kPrefixes = std::to_array<Prefix>({
    {.name = "env",
     .flags = " -i - --ignore-environment ",
     .valued = " -u --unset -C --chdir ",
     .sets_variables = true},
    {.name = "nice", .flags = {}, .valued = " -n --adjustment "},
    {.name = "nohup", .flags = {}, .valued = {}},
    {.name = "timeout",
     .flags = " --foreground --preserve-status -v --verbose ",
     .valued = " -s --signal -k --kill-after ",
     .words = 1},
    {.name = "stdbuf", .flags = {}, .valued = " -i --input -o --output -e --error "},
    {.name = "node",
     .flags = {},
     .valued = " -r --require --import --loader ",
     .has_more_flags = true,
     .then = Then::script},
    {.name = "npx",
     .flags = " -y --yes -q --quiet --no-install --prefer-offline --prefer-online ",
     .valued = " -p --package ",
     .then = Then::package},
    {.name = "bunx",
     .flags = " --bun --verbose --silent ",
     .valued = " -p --package ",
     .then = Then::package},
});

bool contains(std::string_view list, std::string_view word) {
  for (std::size_t at = list.find(word); at != list.npos; at = list.find(word, at + 1)) {
    if (list[at - 1] == ' ' && list[at + word.size()] == ' ') return true;
  }
  return false;
}

bool is_assignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  return equals != word.npos && equals > 0;
}

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c); });
}

/// How many words the option is made of; 0 if it is not understood.
std::size_t length_of(const Prefix& prefix, std::string_view word) {
  if (contains(prefix.flags, word)) return 1;
  if (contains(prefix.valued, word)) return 2;
  if (prefix.name == "nice" && is_number(word.substr(1))) return 1;
  const bool is_long = word.starts_with("--");
  const std::string_view option = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
  if (option != word && contains(prefix.valued, option)) return 1;
  return is_long && prefix.has_more_flags ? 1 : 0;
}

std::string_view base_of(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// The agent whose program or script this is.
std::optional<AdapterKind> agent_at(std::string_view path) {
  std::string_view base = base_of(path);
  for (const std::string_view ending : {".js", ".mjs", ".cjs", ".exe"}) {
    if (base.ends_with(ending)) base.remove_suffix(ending.size());
  }
  for (const AdapterKind agent : kAgents) {
    const AgentRow& row = *row_of(agent);
    if (base == row.name) return agent;
    // The script of a package may be called anything: .../PACKAGE/cli.js
    const std::size_t at = path.find(row.package);
    if (at != path.npos && at > 0 && path[at - 1] == '/' &&
        path.substr(at + row.package.size()).starts_with('/')) {
      return agent;
    }
  }
  return std::nullopt;
}

/// The agent that a package runs, in whatever version: NAME, NAME@latest.
std::optional<AdapterKind> agent_in(std::string_view package) {
  const std::string_view name = package.substr(0, package.find('@', 1));
  for (const AdapterKind agent : kAgents) {
    if (name == row_of(agent)->package || name == row_of(agent)->name) return agent;
  }
  return std::nullopt;
}

/// Where the word stands that comes behind the options of a prefix; the end if there is none.
std::size_t behind(const Prefix& prefix, std::span<const std::string> command, std::size_t at) {
  while (at < command.size() && command[at].starts_with('-')) {
    if (command[at] == "--") {
      ++at;
      break;
    }
    const std::size_t length = length_of(prefix, command[at]);
    if (length == 0) return command.size();
    at += length;
  }
  while (prefix.sets_variables && at < command.size() && is_assignment(command[at])) ++at;
  return at + prefix.words;
}

const Prefix* prefix_at(std::span<const std::string> command, std::size_t& at) {
  std::string_view name = base_of(command[at]);
  if (name == "nodejs") name = "node";
  if (name == "bun" && at + 1 < command.size() && command[at + 1] == "x") {
    name = "bunx";
    ++at;
  }
  const auto found = std::ranges::find(kPrefixes, name, &Prefix::name);
  return found == kPrefixes.end() ? nullptr : &*found;
}

}  // namespace

std::optional<AgentStart> agent_of(std::span<const std::string> command) {
  std::size_t at = 0;
  Then expected = Then::program;
  while (at < command.size()) {
    const Prefix* prefix = expected == Then::program ? prefix_at(command, at) : nullptr;
    if (prefix == nullptr) {
      const auto agent = expected == Then::package ? agent_in(command[at]) : agent_at(command[at]);
      if (!agent) return std::nullopt;
      return AgentStart{.kind = *agent, .arguments = at + 1};
    }
    at = behind(*prefix, command, at + 1);
    expected = prefix->then;
  }
  return std::nullopt;
}

}  // namespace tend
