// Labels of times that people read.
#include "app/when.h"

#include <gtest/gtest.h>

namespace tend {
namespace {

using namespace std::chrono_literals;

TEST(When, gives_ages_in_the_two_largest_units) {
  EXPECT_EQ(short_age(0s), "0s");
  EXPECT_EQ(short_age(59'999ms), "59s");
  EXPECT_EQ(short_age(60s), "1m");
  EXPECT_EQ(short_age(3h + 5min + 59s), "3h05m");
  EXPECT_EQ(short_age(98h), "4d02h");
}

TEST(When, never_gives_an_age_below_zero) { EXPECT_EQ(short_age(-5s), "0s"); }

TEST(When, does_not_know_the_age_of_1970) {
  EXPECT_EQ(age_label(WallTime{}, calendar_time(1000)), "-");
  EXPECT_EQ(age_label(calendar_time(1000), calendar_time(1090)), "1m");
}

TEST(When, reckons_the_calendar_in_utc) {
  const WallTime at = calendar_time(1'773'002'269.25);
  EXPECT_EQ(date_label(at), "2026-03-08");
  EXPECT_EQ(clock_label(at), "20:37:49");
  EXPECT_EQ(date_label(calendar_time(951'782'400)), "2000-02-29");
  EXPECT_EQ(clock_label(calendar_time(951'782'400 - 1)), "23:59:59");
}

}  // namespace
}  // namespace tend
