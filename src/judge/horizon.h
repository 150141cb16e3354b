// "Is it time yet?", asked in one place. A moment that is not reached yet becomes a candidate for
// the next deadline, so the judge can never compare with a time and forget to wake up at it.
#pragma once

#include <algorithm>
#include <optional>

#include "judge/clocks.h"

namespace tend {

class Horizon {
 public:
  explicit Horizon(const Clocks& clocks) : clocks_(clocks) {}

  [[nodiscard]] bool due(Instant at) { return reached(clocks_.now(), at, true); }
  [[nodiscard]] bool due(AwakeTime at) { return reached(clocks_.awake(), at, true); }
  [[nodiscard]] bool due(ActiveTime at) { return reached(clocks_.active(), at, !clocks_.paused()); }
  [[nodiscard]] bool due(SilenceTime at) {
    return reached(clocks_.silence(), at, !clocks_.paused() && !clocks_.held());
  }

  /// The earliest moment asked about that is still to come. Nothing when every clock that was asked
  /// stands still: then only a signal can change anything.
  [[nodiscard]] std::optional<Instant> next() const { return next_; }

 private:
  template <class Time>
  bool reached(Time now, Time at, bool runs) {
    if (now >= at) return true;
    if (runs && at - now < kNoLimit / 2) {
      const Instant then = clocks_.now() + (at - now);
      next_ = next_ ? std::min(*next_, then) : then;
    }
    return false;
  }

  const Clocks& clocks_;
  std::optional<Instant> next_;
};

}  // namespace tend
