// One stale source never kills. A plane is an independent way of looking at an agent; a destructive
// action needs two of them to agree that the agent is stalled, or the kernel's word that it is
// gone.
#pragma once

#include "judge/evidence.h"
#include "judge/horizon.h"
#include "judge/policy.h"
#include "judge/silence.h"

namespace tend {

/// Which planes agree with `stalled` at this moment. One never seen in this life says nothing.
struct Planes {
  bool process = false;   // the last probe found it running or stopped
  bool stream = false;    // silent past the limit, or never seen in phase start
  bool beats = false;     // the agent's own beat is past its suspect limit
  bool self = false;      // it says so, does not answer, or does not do what it was told
  bool children = false;  // all it waited for has ended

  [[nodiscard]] std::uint32_t agreeing() const {
    return static_cast<std::uint32_t>(process) + static_cast<std::uint32_t>(stream) +
           static_cast<std::uint32_t>(beats) + static_cast<std::uint32_t>(self) +
           static_cast<std::uint32_t>(children);
  }
};

inline constexpr std::uint32_t kPlanesNeeded = 2;

/// Requires that the silence is past its deadline.
Planes look_at_planes(const Evidence& evidence, const Policy& policy, const Silence& silence,
                      const Exiting& exiting, Horizon& horizon);

}  // namespace tend
