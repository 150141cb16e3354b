// An agent of another system, as the configuration describes it: where its signs of life stand
// (`[[source]]`), where ours go (`[[sink]]`), how long it may be silent and what is done then
// (`[store.NAME]`). A preset is such a description of a system that is known.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "store/foreign/foreign_store.h"

namespace tend {

struct Config;

/// One store of one agent, or of all that have a role.
struct AgentStore {
  std::string name;  // what `tend stores` calls it; once for an agent
  std::string agent;
  std::string role;
  ForeignStore store;
  std::optional<Duration> stale;  // its own; else the agent's
  bool may_lag = false;           // that it alone is stale means nothing
  bool believed = false;          // its state is the agent's own word
  Duration refresh_after{};       // a sink: what is younger is left alone
  std::string id;                 // a sink: whose entry it is, an agent_id or leader_id
  std::string counter;            // a sink: the key of a number that each beat raises
  std::size_t line = 0;           // of its table

  bool operator==(const AgentStore&) const = default;
};

enum class Preset : std::uint8_t { gastown, teaparty, zylos, hyrm };
inline constexpr std::array<std::string_view, 4> kPresetWords{"gastown", "teaparty", "zylos",
                                                              "hyrm"};

/// `[store.NAME]`: what is not said comes from the preset, or is the usual.
struct ForeignSetting {
  std::optional<Preset> preset;
  std::string root;     // of the other system
  std::string session;  // of tmux
  std::optional<Duration> stale;
  std::optional<Duration> very_stale;
  std::optional<std::vector<std::string>> poke;
  std::optional<Duration> poke_after;
  bool kill = false;
  std::size_t line = 0;

  bool operator==(const ForeignSetting&) const = default;
};

struct ForeignAgent {
  std::string name;
  std::vector<AgentStore> sources;  // each with its limit
  std::vector<AgentStore> sinks;
  Duration stale = std::chrono::minutes{5};
  Duration very_stale = std::chrono::minutes{20};
  std::vector<std::string> poke;  // empty: nobody is poked
  Duration poke_after{};
  bool kill = false;  // it may be ended, if its process is proven

  bool operator==(const ForeignAgent&) const = default;
};

/// Who is described in the configuration, sorted.
std::vector<std::string> foreign_names(const Config& config);
/// Everything that is said of this agent. `~/` in paths becomes `user_home`, and `{agent}` its
/// name.
ForeignAgent foreign_agent(const Config& config, std::string_view name, std::string_view role,
                           std::string_view user_home);

}  // namespace tend
