// Three reads of clock_gettime(2): with sleep, without it, and the calendar.
#include "os/linux/linux_clock.h"

#include <time.h>

#include <chrono>

#include "base/check.h"

namespace tend {
namespace {

std::chrono::nanoseconds read(clockid_t which) {
  timespec time{};
  CHECK(::clock_gettime(which, &time) == 0);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace

Instant LinuxClock::now() {
  return Instant{std::chrono::duration_cast<Duration>(read(CLOCK_BOOTTIME))};
}

Duration LinuxClock::awake() { return std::chrono::duration_cast<Duration>(read(CLOCK_MONOTONIC)); }

WallTime LinuxClock::wall() { return WallTime{read(CLOCK_REALTIME)}; }

}  // namespace tend
