// Chance for whoever acts in a simulated world.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/time.h"

namespace tend::sim {

/// Chance of its own, so that what the code under test draws changes nothing in what agents do.
class Dice {
 public:
  Dice(std::uint64_t seed, std::string_view name, std::uint64_t life)
      : state_(seed ^ (life << 48U)) {
    for (const char c : name) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  std::uint64_t number() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  Duration between(Duration low, Duration high) {
    return low + Duration{static_cast<Duration::rep>(
                     number() % static_cast<std::uint64_t>((high - low).count() + 1))};
  }

 private:
  std::uint64_t state_;
};

}  // namespace tend::sim
