// Two judges over the same moments, in step: what one decides can be held against what the other
// decides at that very time, without keeping either's history.
#pragma once

#include <span>
#include <vector>

#include "base/time.h"
#include "judge/decision.h"
#include "run/replay.h"

namespace tend {

/// Hears of every time at which at least one of the two decided something.
class TwinSink {
 public:
  virtual ~TwinSink() = default;
  virtual void decided(Instant at, std::span<const Decision> first,
                       std::span<const Decision> second) = 0;
};

class TwinReplay {
 public:
  TwinReplay(Judge first, Judge second, Attendance& observer, TwinSink& sink);

  /// As with Replay.
  void take(const Moment& moment);
  void run_to(Instant last);

 private:
  struct Collected final : DecisionSink {
    void decided(Instant /*at*/, const Decision& decision) override {
      decisions.push_back(decision);
    }
    std::vector<Decision> decisions;
  };

  void tell(Instant at);

  Collected first_decisions_;
  Collected second_decisions_;
  Replay first_;
  Replay second_;
  Attendance& observer_;
  TwinSink& sink_;
};

}  // namespace tend
