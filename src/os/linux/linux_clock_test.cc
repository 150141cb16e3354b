// The clocks against each other and against the kernel's own numbers.
#include "os/linux/linux_clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

namespace tend {
namespace {

using namespace std::chrono_literals;

TEST(LinuxClock, never_falls) {
  LinuxClock clock;
  Instant last = clock.now();
  Duration awake = clock.awake();
  for (int i = 0; i < 10'000; ++i) {
    const Instant now = clock.now();
    EXPECT_GE(now, last);
    last = now;
    EXPECT_GE(clock.awake(), awake);
    awake = clock.awake();
  }
}

TEST(LinuxClock, counts_from_boot_with_the_time_asleep) {
  LinuxClock clock;
  double uptime = 0;
  std::ifstream("/proc/uptime") >> uptime;  // in steps of 10 ms
  ASSERT_GT(uptime, 0);
  const std::chrono::duration<double> seen = clock.now().time_since_epoch();
  EXPECT_GE(seen.count(), uptime - 0.02);
  EXPECT_LT(seen.count(), uptime + 60);
  EXPECT_LE(clock.awake(), clock.now().time_since_epoch());
}

TEST(LinuxClock, tells_the_calendar) {
  const auto really = std::chrono::system_clock::now().time_since_epoch();
  const auto seen = LinuxClock{}.wall().time_since_epoch();
  EXPECT_LT(std::chrono::abs(seen - really), 60s);
}

}  // namespace
}  // namespace tend
