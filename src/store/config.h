// The configuration: policies that people write beside the built-in ones. The format is described
// in docs/config.md; store/config_file.h finds and reads the file.
#pragma once

#include <cstddef>
#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "judge/policy.h"

namespace tend {

inline constexpr std::size_t kMostPolicies = 64;
inline constexpr std::size_t kDeepestExtends = 16;
inline constexpr std::size_t kMostProblems = 100;

/// Something wrong in a file, where it is, and what is allowed instead.
struct ConfigProblem {
  std::string file;        // empty: the text names it
  std::size_t line = 0;    // 0: the file as a whole
  std::size_t column = 0;  // 0: the line as a whole
  std::string key;         // "policy.night.limits.model"; empty for a syntax error
  std::string text;

  bool operator==(const ConfigProblem&) const = default;
};
using ConfigProblems = std::vector<ConfigProblem>;

/// "night.toml:7: policy.night.limits.modell: no such limit; allowed: start, model, ..."
std::string describe(const ConfigProblem& problem);

/// The order in which problems are told.
bool before_in_file(const ConfigProblem& a, const ConfigProblem& b);

/// A rung as it stands in the file.
struct WrittenRung {
  Rung rung;
  std::size_t line = 0;
};

/// A policy as it works after inheritance, and where its own parts are written.
struct ConfiguredPolicy {
  Policy policy;
  std::string extends;
  std::size_t line = 0;                                   // of its table
  std::map<std::string, std::size_t, std::less<>> lines;  // its own keys: "limits.model" to line
  std::vector<WrittenRung> ladder;                        // policy.ladder in the order of the file
};

struct Config {
  std::string file;
  std::map<std::string, ConfiguredPolicy, std::less<>> policies;

  /// The names of the policies of this file, sorted.
  [[nodiscard]] std::vector<std::string_view> names() const;
  /// A policy of this file or a built-in one. The error lists all that exist.
  [[nodiscard]] Result<Policy> find(std::string_view name) const;
};

/// Reads TOML. `file` is only the name in problems. Either everything is right, or all that is
/// wrong is told, in the order of the lines, up to kMostProblems.
std::expected<Config, ConfigProblems> parse_config(std::string_view text, std::string_view file);

}  // namespace tend
