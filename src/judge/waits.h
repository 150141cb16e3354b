// Who waits for whom among the agents of a home, and where that goes in a circle: nobody in it will
// move until something from outside happens. Pure: from verdicts to edges.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "judge/words.h"

namespace tend {

/// One agent, as far as waiting goes.
struct WaitingOne {
  std::optional<std::size_t> parent;  // its place in the list
  Verdict verdict = Verdict::unknown;
  Phase phase = Phase::start;
  bool for_parent = false;  // it waits for its parent
};

/// One agent's part in the waiting.
struct WaitsFor {
  std::vector<std::size_t> on;  // places in the list: children first, then the parent
  bool in_circle = false;       // someone whom it waits for waits for it
  bool only_ended = false;      // waits for its children, and all of them have ended
};

/// In the order of `all`. A parent in phase children waits for each child that has not ended; a
/// child that waits for its parent waits for that one.
std::vector<WaitsFor> waits_among(std::span<const WaitingOne> all);

}  // namespace tend
