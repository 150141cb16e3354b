// What came of worlds, of one or of millions: numbers that add up, and the seeds of those in which
// something did not hold.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "scenario.h"
#include "seeded_world.h"

namespace tend::sim {

/// Hangs of one kind.
struct HangTally {
  std::vector<Duration> delays;  // until ours knew, of those that it found
  std::uint64_t missed = 0;
  std::uint64_t open = 0;  // the world or the life ended before either could be said

  [[nodiscard]] std::uint64_t all() const { return delays.size() + missed + open; }
  bool operator==(const HangTally&) const = default;
};

/// How often a check was violated.
struct BrokenTally {
  static constexpr std::size_t kMostSeeds = 1000;
  static constexpr std::size_t kMostSaid = 20;

  std::uint64_t times = 0;
  std::vector<std::uint64_t> seeds;  // each once, the first of them
  std::vector<std::string> said;     // what it said first
  Duration soonest = kNoLimit;       // since its world began; kNoLimit, null in JSON: nobody knows

  bool operator==(const BrokenTally&) const = default;
};

/// What may be late and has to come: once nothing goes wrong, within its bound. All other checks
/// say what never happens, whatever goes wrong; also those that say both.
inline constexpr std::array<std::string_view, 9> kChecksOfLiveness{
    "stall found",    "carried out", "nobody left", "nothing owed",  "forgotten",
    "keeper missing", "taken back",  "its turn",    "beats in time",
};
bool is_of_safety(std::string_view check);

struct Tally {
  std::uint64_t worlds = 0;
  std::uint64_t broken_worlds = 0;  // in which something was violated
  std::uint64_t agents = 0;
  std::uint64_t finished = 0;  // of the agents
  std::uint64_t lives = 0;
  std::uint64_t kills = 0;
  std::uint64_t false_kills = 0;
  std::uint64_t merges = 0;
  Duration agent_time{};
  std::uint64_t digest = 0;  // the sum: the same whatever the order of the worlds; read as `hash`
  std::map<FaultKind, std::uint64_t> faults;
  std::map<StepKind, std::uint64_t> false_kills_in;  // by what they were doing
  std::map<StepKind, HangTally> hangs;
  std::map<std::string, BrokenTally> broken;  // by check

  bool operator==(const Tally&) const = default;
  Tally& operator+=(const Tally& other);

  [[nodiscard]] std::uint64_t fault_count() const;
  [[nodiscard]] std::uint64_t hang_count() const;
  [[nodiscard]] std::uint64_t found_count() const;
  [[nodiscard]] std::uint64_t violations() const;
  /// Of these, of checks that say what never happens.
  [[nodiscard]] std::uint64_t violations_of_safety() const;
  /// The check that was violated soonest, whatever else came of that; "" if all held.
  [[nodiscard]] std::string first_broken() const;
};

Tally tally_of(std::uint64_t seed, const Outcome& outcome);
/// A world that came to no end: it crashed, or took too long.
Tally tally_of_failure(std::uint64_t seed, const std::string& check, const std::string& what);

/// The delay within which so many percent were found: the nearest rank, rounded up, so that of few
/// the last is the 99th percentile. REQUIRES that some were, and a percent in [1, 100].
Duration percentile(std::vector<Duration> delays, std::size_t percent);

/// On one line, for machines.
std::string format_tally(const Tally& tally);
/// The same, and whose it is: {"seed":7,...} of one world, {"first":1,...} of many, with
/// "broken_off":true if that are not all of them.
std::string format_tally(const char* key, std::uint64_t seed, const Tally& tally,
                         bool broken_off = false);
Result<Tally> parse_tally(std::string_view text);
/// Some lines, for people.
std::string describe_tally(const Tally& tally);

double hours(Duration duration);

}  // namespace tend::sim
