// Doubling, with a ceiling and some chance.
#include "act/backoff.h"

#include <algorithm>

namespace tend {

Duration backoff(std::uint32_t attempts_before, std::uint64_t chance) {
  constexpr std::uint64_t kFirstMs = 1'000;
  constexpr std::uint64_t kLongestMs = 60'000;
  constexpr std::uint32_t kDoublings = 6;  // enough to pass the longest
  if (attempts_before == 0) return Duration::zero();
  const std::uint64_t wait =
      std::min(kFirstMs << std::min(attempts_before - 1, kDoublings), kLongestMs);
  return Duration{wait + chance % (wait / 4 + 1)};
}

Duration spread(std::uint64_t chance) {
  constexpr std::uint64_t kLongestMs = 30'000;
  return Duration{chance % (kLongestMs + 1)};
}

}  // namespace tend
