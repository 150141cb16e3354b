// Chance for whoever acts in a simulated world.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/time.h"
#include "chance.h"

namespace tend::sim {

/// Chance of its own, so that what the code under test draws changes nothing in what agents do.
class Dice {
 public:
  Dice(std::uint64_t seed, std::string_view name, std::uint64_t life)
      : chance_(seed_of(seed ^ (life << 48U), name)) {}

  std::uint64_t number() { return chance_.number(); }
  /// Always one throw: what follows is the same whether there was a choice or not.
  Duration between(Duration low, Duration high) {
    return low + Duration{static_cast<Duration::rep>(
                     number() % static_cast<std::uint64_t>((high - low).count() + 1))};
  }

 private:
  static std::uint64_t seed_of(std::uint64_t seed, std::string_view name) {
    for (const char c : name) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return seed;
  }

  Chance chance_;
};

}  // namespace tend::sim
