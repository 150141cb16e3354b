// The words that tend-sim understands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "scenario.h"

namespace tend::sim {

struct SimOptions {
  enum class What : std::uint8_t { help, play, swarm, shrink, draw, report };
  What what = What::play;
  std::string help;      // of What::help
  std::string scenario;  // a file; "": drawn from the seed
  std::uint64_t seed = 0;
  Wishes wishes;
  std::uint64_t count = 0;  // of a swarm
  std::uint64_t first = 1;
  std::size_t jobs = 0;          // 0: as many as there are cores
  std::uint64_t stop_after = 0;  // 0: never
  std::size_t plays = 400;       // of shrinking
  bool trace = false;
  bool json = false;
  std::string report;  // a file; "": none
  bool table = false;  // of the report, on standard output
};

/// `words` is everything after the name of the program. The error is one line for a person.
Result<SimOptions> parse_options(const std::vector<std::string>& words);

}  // namespace tend::sim
