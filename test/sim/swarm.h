// Many seeds on all cores, and what came of them together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "players.h"
#include "scenario.h"
#include "tally.h"

namespace tend::sim {

struct SwarmSettings {
  Wishes wishes;
  std::uint64_t first = 1;
  std::uint64_t count = 0;
  std::size_t jobs = 1;
  std::uint64_t stop_after = 0;  // worlds in which something was violated; 0: never
  PlayWorld play = play_here;
  int break_off = -1;  // as soon as this descriptor can be read; -1: never
};

/// Hears of every world, in the order of the seeds: that world, and all of them so far.
using SwarmListener = std::function<void(const Played& one, const Tally& so_far)>;

/// The seeds [first, first + count), or up to the failing one after which it is to stop. The sum is
/// the same however many play at once. Broken off, it is the sum of the first so many of them.
Tally play_swarm(const SwarmSettings& settings, const SwarmListener& listener);

/// How far a swarm is, for people: one line that is written over and over on a terminal, else a
/// plain line a minute, and one for each world in which something was violated.
class SwarmProgress {
 public:
  using Write = std::function<void(const std::string&)>;

  SwarmProgress(std::uint64_t count, bool terminal, Write write);
  /// `elapsed` is what the swarm took so far.
  void hear(const Played& one, const Tally& so_far, Duration elapsed);
  void end();

 private:
  std::uint64_t count_;
  bool terminal_;
  Duration every_;
  Duration next_;
  Write write_;
};

}  // namespace tend::sim
