// Restarts cost money and can make things worse: they are counted. Two budgets (between two
// refills, and over all lives), and a memory of how the agent ended, so that the same end for the
// third time is recognised.
#pragma once

#include <cstdint>
#include <vector>

#include "base/name.h"
#include "judge/policy.h"
#include "judge/words.h"

namespace tend {

/// How and where an agent ended: the same cause at the same point is the same end.
struct End {
  Name cause;  // the last error, the exit, or silence
  Phase phase = Phase::start;
  Name tool;  // the open tool, if the phase was tool
  std::uint32_t times = 0;
};

class Spending {
 public:
  void refill() {
    used_ = 0;
    ends_.clear();
  }

  /// Counts this end and says how often it has happened since the last refill.
  std::uint32_t count(const End& end);

  [[nodiscard]] bool spent(const Budget& budget) const {
    return used_ >= budget.between_refills || total_ >= budget.per_agent;
  }
  void spend() {
    ++used_;
    ++total_;
  }
  [[nodiscard]] std::uint32_t used() const { return used_; }
  [[nodiscard]] std::uint32_t total() const { return total_; }

  template <class Fields>
  void fields(Fields& io) {
    io("used", used_);
    io("total", total_);
    io("ends", ends_);
  }

 private:
  std::uint32_t used_ = 0;
  std::uint32_t total_ = 0;
  std::vector<End> ends_;
};

/// The same end this often since the last refill is a loop.
inline constexpr std::uint32_t kSameEndLoops = 3;
inline constexpr std::size_t kMostEnds = 16;

}  // namespace tend
