// Random numbers from a seed, the same wherever they are drawn.
#pragma once

#include <cstdint>
#include <span>

#include "base/time.h"

namespace tend::sim {

/// Splitmix64: all that a scenario comes from. One draw to a statement, or compilers differ in
/// which they do first and a seed is another world with each.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed) {}

  std::uint64_t number() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : number() % bound; }
  std::uint64_t within(std::uint64_t low, std::uint64_t high) {
    return low + below(high - low + 1);
  }
  bool percent(std::uint64_t of_hundred) { return below(100) < of_hundred; }
  Duration between(Duration low, Duration high) {
    if (high <= low) return low;
    return low + Duration{static_cast<Duration::rep>(
                     below(static_cast<std::uint64_t>((high - low).count()) + 1))};
  }
  Duration mostly_short(Duration low, Duration high) { return between(low, between(low, high)); }
  std::uint64_t mostly_small(std::uint64_t low, std::uint64_t high) {
    return within(low, within(low, high));
  }
  Duration share(Duration whole, std::uint64_t least_percent, std::uint64_t most_percent) {
    return whole * static_cast<Duration::rep>(within(least_percent, most_percent)) / 100;
  }
  template <class T>
  const T& one_of(std::span<const T> all) {
    return all[below(all.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace tend::sim
