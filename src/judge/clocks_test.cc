// Which clock stands still for what.
#include "judge/clocks.h"

#include <gtest/gtest.h>

#include "judge/horizon.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

Clocks begun_at(Duration time) {
  Clocks clocks;
  clocks.move_to(Instant{time});
  clocks.begin();
  return clocks;
}

TEST(Clocks, all_run_together_while_nothing_happens) {
  Clocks clocks = begun_at(0s);
  clocks.move_to(Instant{90s});
  EXPECT_EQ(clocks.awake(), AwakeTime{90s});
  EXPECT_EQ(clocks.active(), ActiveTime{90s});
  EXPECT_EQ(clocks.silence(), SilenceTime{90s});
}

TEST(Clocks, all_stand_still_in_sleep) {
  Clocks clocks = begun_at(0s);
  clocks.move_to(Instant{100s});
  clocks.slept(60s);
  EXPECT_EQ(clocks.awake(), AwakeTime{40s});
  EXPECT_EQ(clocks.silence(), SilenceTime{40s});
}

TEST(Clocks, count_no_second_of_sleep_twice_and_none_before_the_beginning) {
  Clocks clocks = begun_at(50s);
  clocks.move_to(Instant{100s});
  clocks.slept(1000s);
  EXPECT_EQ(clocks.awake(), AwakeTime{50s});
  clocks.slept(1000s);
  EXPECT_EQ(clocks.awake(), AwakeTime{50s});
}

TEST(Clocks, stop_silence_but_not_the_rest_while_the_agent_is_held_up) {
  Clocks clocks = begun_at(0s);
  clocks.set_held(true);
  clocks.move_to(Instant{100s});
  EXPECT_EQ(clocks.active(), ActiveTime{100s});
  EXPECT_EQ(clocks.silence(), SilenceTime{0s});
  clocks.set_held(false);
  clocks.move_to(Instant{130s});
  EXPECT_EQ(clocks.silence(), SilenceTime{30s});
}

TEST(Clocks, do_not_count_sleep_in_a_pause_twice) {
  Clocks clocks = begun_at(0s);
  clocks.set_paused(true);
  clocks.move_to(Instant{100s});
  clocks.slept(60s);
  clocks.set_paused(false);
  clocks.move_to(Instant{110s});
  EXPECT_EQ(clocks.active(), ActiveTime{10s});
}

TEST(Horizon, names_the_earliest_moment_that_was_asked_about) {
  Clocks clocks = begun_at(0s);
  clocks.move_to(Instant{10s});
  Horizon horizon(clocks);
  EXPECT_TRUE(horizon.due(Instant{10s}));
  EXPECT_FALSE(horizon.due(SilenceTime{30s}));
  EXPECT_FALSE(horizon.due(ActiveTime{20s}));
  EXPECT_EQ(horizon.next(), Instant{20s});
}

TEST(Horizon, names_no_moment_on_a_clock_that_stands_still) {
  Clocks clocks = begun_at(0s);
  clocks.set_paused(true);
  Horizon horizon(clocks);
  EXPECT_FALSE(horizon.due(ActiveTime{20s}));
  EXPECT_EQ(horizon.next(), std::nullopt);
}

TEST(Horizon, has_no_end_for_what_has_no_limit) {
  Clocks clocks = begun_at(0s);
  Horizon horizon(clocks);
  EXPECT_FALSE(horizon.due(SilenceTime{} + kNoLimit));
  EXPECT_EQ(horizon.next(), std::nullopt);
}

}  // namespace
}  // namespace tend
