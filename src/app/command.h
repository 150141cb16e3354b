// One row per command. The table makes parsing, --help, the man page and the completions, so that
// none of them can differ from the others.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "os/world.h"

namespace tend {

/// Exit codes of every command.
inline constexpr int kExitYes = 0;
inline constexpr int kExitNo = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNeedsYou = 3;

/// The name that this program goes by, unless it is called by another.
inline constexpr std::string_view kTend = "tend";

/// What the user typed, checked against the command's row.
class Arguments {
 public:
  /// True if the flag `--name` was given.
  [[nodiscard]] bool has(std::string_view name) const { return options.contains(name); }
  /// The last value given to `--name VALUE`.
  [[nodiscard]] std::optional<std::string> value(std::string_view name) const {
    const auto found = options.find(name);
    if (found == options.end() || found->second.empty()) return std::nullopt;
    return found->second.back();
  }
  /// All values given to `--name VALUE`, in order.
  [[nodiscard]] std::vector<std::string> values(std::string_view name) const {
    const auto found = options.find(name);
    return found == options.end() ? std::vector<std::string>{} : found->second;
  }

  std::vector<std::string> positionals;
  std::map<std::string, std::vector<std::string>, std::less<>> options;  // without their dashes
};

/// What a value is, for its completion and its place in the help.
enum class ValueKind { none, text, file, policy, limit, choice, command, agent };

struct OptionRow {
  std::string_view name;  // "limit", typed as --limit
  char letter = 0;        // 'j', typed as -j, or 0
  ValueKind kind = ValueKind::none;
  std::string_view value{};  // "NAME=DUR", in help and man page
  std::string_view help{};   // one sentence, no full stop
  bool repeats = false;
  std::span<const std::string_view> choices{};  // kind choice only
  bool value_is_optional = false;               // --name, or --name=VALUE
  bool value_may_be_empty = false;              // --name "" and --name= mean something
};

struct PositionalRow {
  std::string_view name;  // "TRACE"
  ValueKind kind = ValueKind::text;
  std::string_view help{};  // one sentence, no full stop
  bool required = false;
  bool repeats = false;                         // the last row only
  std::span<const std::string_view> choices{};  // kind choice only
};

struct CommandRow {
  std::string_view name;       // "replay", or "config check"
  std::string_view summary{};  // one line in `tend --help`
  std::string_view text{};     // paragraphs for --help and the man page, "\n\n" between them
  std::span<const PositionalRow> positionals{};
  std::span<const OptionRow> options{};
  std::span<const std::string_view> examples{};
  int (*body)(const Arguments& arguments, World& world) = nullptr;
  std::string_view program = kTend;  // the name that it goes by
};

/// The whole table, in the order of `tend --help`. Its rows stand in commands_*.cc.
std::span<const CommandRow> commands();

}  // namespace tend
