// The configuration: policies that people write beside the built-in ones, the channels on which
// they are told, the patrol, where tasks are, the stores of other systems, what becomes of messages
// to agents and how those are asked. The format is described in docs/config.md; store/config_file.h
// finds and reads the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "judge/patrol.h"
#include "judge/policy.h"
#include "store/foreign/foreign_agent.h"
#include "store/gate_settings.h"
#include "store/lease_settings.h"
#include "store/probe_settings.h"

namespace tend {

inline constexpr std::size_t kMostPolicies = 64;
inline constexpr std::size_t kDeepestExtends = 16;
inline constexpr std::size_t kMostProblems = 100;
inline constexpr std::size_t kMostChannels = 16;
inline constexpr std::size_t kMostStores = 256;  // of sources, sinks, agents, probes, leases

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

/// A way to people: `[[notify]]`. What is told goes out on every one of them.
struct NotifyChannel {
  enum class Kind : std::uint8_t { command, webhook, desktop };
  std::string name;  // what `tend outbox` calls it, once in a file
  Kind kind = Kind::command;
  std::vector<std::string> command;  // its arguments, no shell; the notice is its input, as JSON
  std::string url;                   // of a webhook; it may hold a secret
  bool slack = false;                // a webhook that wants what Slack wants
  std::size_t line = 0;              // of its table

  bool operator==(const NotifyChannel&) const = default;
};

struct Config {
  std::string file;
  std::map<std::string, ConfiguredPolicy, std::less<>> policies;
  std::vector<NotifyChannel> channels;  // in the order of the file
  PatrolPolicy patrol;                  // `[patrol]`
  std::vector<std::string> beads;       // `[tasks] beads`: a `bd` that has the tasks; empty: we do
  std::vector<AgentStore> sources;      // `[[source]]`, in the order of the file
  std::vector<AgentStore> sinks;        // `[[sink]]`
  std::map<std::string, ForeignSetting, std::less<>> stores;  // `[store.NAME]`
  GateSettings gate;                                          // `[gate]`
  std::map<std::string, ProbeSettings, std::less<>> probes;   // `[probe.NAME]`, by agent
  std::map<std::string, LeaseSettings, std::less<>> leases;   // `[lease.NAME]`
  std::map<std::string, std::size_t, std::less<>> lines;      // "patrol.interval" to its line

  /// The names of the policies of this file, sorted.
  [[nodiscard]] std::vector<std::string_view> names() const;
  /// A policy of this file or a built-in one. The error lists all that exist.
  [[nodiscard]] Result<Policy> find(std::string_view name) const;
};

/// Reads TOML. `file` is only the name in problems. Either everything is right, or all that is
/// wrong is told, in the order of the lines, up to kMostProblems.
std::expected<Config, ConfigProblems> parse_config(std::string_view text, std::string_view file);

}  // namespace tend
