// What the judge says: a change of verdict, or one action to be taken now.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/name.h"
#include "base/time.h"
#include "judge/reason.h"
#include "judge/words.h"

namespace tend {

inline constexpr std::size_t kMostReasons = 4;

struct Decision {
  enum class Kind : std::uint8_t { verdict, action };
  Kind kind = Kind::verdict;

  // For a verdict: what it is now. For an action: what it was taken under.
  Verdict verdict = Verdict::unknown;
  Phase phase = Phase::start;

  Action action = Action::warn;  // kind action only
  Name task;                     // reassign: which work item

  /// The decisive reason first. An action has exactly one.
  std::array<Reason, kMostReasons> reasons{};
  std::uint8_t reason_count = 0;

  [[nodiscard]] std::span<const Reason> because() const { return {reasons.data(), reason_count}; }
};

/// The answer of one step. `decisions` is valid until the next call of step().
struct Outcome {
  std::span<const Decision> decisions;
  std::optional<Instant> next;  // step again at this time at the latest, with or without signals
};

}  // namespace tend
