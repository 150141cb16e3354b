// The clocks of the machine. Ages come from `now` alone; the other two only tell what happened to
// the observer: a sleep of the machine, a step of the wall clock.
#pragma once

#include "base/time.h"

namespace tend {

class Clock {
 public:
  virtual ~Clock() = default;
  /// Since boot, time asleep included; it never falls.
  [[nodiscard]] virtual Instant now() = 0;
  /// Since boot, time asleep left out. What now() gained over it is sleep.
  [[nodiscard]] virtual Duration awake() = 0;
  /// What the calendar says; it may jump.
  [[nodiscard]] virtual WallTime wall() = 0;
};

}  // namespace tend
