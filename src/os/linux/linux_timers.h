// All timers of a loop on one timerfd of BOOTTIME, the clock that goes on while the machine sleeps.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "os/linux/fd.h"
#include "os/linux/linux_clock.h"
#include "os/loop.h"

namespace tend {

class LinuxLoop;

class LinuxTimers {
 public:
  explicit LinuxTimers(LinuxLoop& loop);

  [[nodiscard]] Subscribed at(Instant when, Callback callback);
  /// Tells the kernel the earliest timer if it is another than before. To be called before every
  /// wait, so that timers that come and go in between cost nothing.
  void arm();

 private:
  void fire();

  using Key = std::pair<Instant, std::uint64_t>;  // equal times fire in the order they were asked

  LinuxClock clock_;
  std::map<Key, Callback> timers_;
  std::uint64_t asked_ = 0;
  std::optional<Instant> armed_;
  Fd descriptor_;
  Subscribed readable_;
};

}  // namespace tend
