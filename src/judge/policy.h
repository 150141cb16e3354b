// How patient the judge is: limits per phase, budgets, and the rungs a person added to the built-in
// ladder. A policy is plain data; store/config.h reads it from TOML.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "judge/words.h"

namespace tend {

/// Silence known by beats alone: suspect after the first, stalled after the second.
struct Patience {
  Duration suspect{};
  Duration stalled{};

  bool operator==(const Patience&) const = default;
};

/// One duration for every key that `limits` may name; kNoLimit where there is none.
struct Limits {
  Duration start{};       // spawn to the first real sign
  Duration model{};       // the model's turn
  Duration tool{};        // a tool call that declares no limit of its own
  Duration compact{};     // a compaction
  Duration retry{};       // a provider's hold that names no end: since its last retry
  Duration person{};      // between two reminders that a person is waited for
  Duration children{};    // how long a child that is unknown, suspect or stalled excuses its parent
  Duration background{};  // background tasks after the turn
  Duration idle{};        // work that waits for an idle agent
  Duration exiting{};     // from the announced or ordered end to the exit
  Patience beats{};       // no stream in this life
  Duration confirm{};     // suspect to stalled
  Duration orphan{};      // the parent's death to orphaned
  Duration grace{};       // orphaned to the kill

  bool operator==(const Limits&) const = default;
};

/// The limits that are a single duration, by the name they have in traces, TOML and --limit.
struct LimitKey {
  std::string_view name;
  Duration Limits::* member;
};
inline constexpr std::array<LimitKey, 13> kLimitKeys{{
    {"start", &Limits::start},
    {"model", &Limits::model},
    {"tool", &Limits::tool},
    {"compact", &Limits::compact},
    {"retry", &Limits::retry},
    {"person", &Limits::person},
    {"children", &Limits::children},
    {"background", &Limits::background},
    {"idle", &Limits::idle},
    {"exiting", &Limits::exiting},
    {"confirm", &Limits::confirm},
    {"orphan", &Limits::orphan},
    {"grace", &Limits::grace},
}};

struct Budget {
  std::uint32_t between_refills = 3;  // resumes between two refills
  std::uint32_t per_agent = 9;        // resumes over all lives of an agent
  Duration refill_after{};            // awake time without trouble that refills it

  bool operator==(const Budget&) const = default;
};

/// A step that a person added: `action`, once the agent has been silent for `after`. A destructive
/// one is taken only when the judge could have taken it itself.
struct Rung {
  Duration after{};
  std::uint32_t missed = 0;  // as it was written, in beats; 0: written as a time
  Action action = Action::warn;

  bool operator==(const Rung&) const = default;
};

/// What the watched program has promised to show.
enum class Promise : std::uint8_t {
  stream,   // policy agent: a stream or beats
  beats,    // policy worker and its kin: beats; silence of one that never beat is bad wiring
  nothing,  // policy plain: any program; never killed for its silence
  watched,  // of another system, which keeps it: people are told, nothing else is done
};

struct Policy {
  std::string name;
  Promise promise = Promise::stream;
  Limits limits;
  Budget budget;
  Duration beat{};           // the interval in which `missed` counts
  std::vector<Rung> ladder;  // in rising order of `after`
  bool direct = false;       // at a limit the second look is taken at once, and the cure is restart
  /// How long the word `idle` excuses one that shows no process, from its last beat or real sign.
  Duration unseen_rest = kNoLimit;
  /// How long one that is asked whether it still answers may take for it; kNoLimit: nobody asks.
  Duration answer = kNoLimit;

  [[nodiscard]] bool asks() const { return answer < kNoLimit; }

  bool operator==(const Policy&) const = default;
};

/// Rungs beyond this are refused by the configuration reader.
inline constexpr std::size_t kMostRungs = 16;

/// agent, worker, critical, overnight, plain; nothing for any other name.
std::optional<Policy> built_in_policy(std::string_view name);
inline constexpr std::array<std::string_view, 5> kBuiltInPolicies{"agent", "worker", "critical",
                                                                  "overnight", "plain"};

/// Sets one limit by its name ("model", "beats", ...). `beats` takes a pair through the other
/// overload. A policy that promises beats starts with its suspect limit unless `start` is set
/// later.
Result<void> set_limit(Policy& policy, std::string_view name, Duration value);
Result<void> set_beats(Policy& policy, Patience patience);

}  // namespace tend
