// Durations as people write them, and as they read them back.
#include "base/duration.h"

#include <gtest/gtest.h>

namespace tend {
namespace {

using namespace std::chrono_literals;

Duration read(std::string_view text) {
  const auto duration = parse_duration(text);
  EXPECT_TRUE(duration.has_value()) << text << ": " << duration.error().text;
  return duration.value_or(-1ms);
}

std::string error_of(std::string_view text) {
  const auto duration = parse_duration(text);
  EXPECT_FALSE(duration.has_value()) << text;
  return duration ? "" : duration.error().text;
}

TEST(ParseDuration, reads_every_unit) {
  EXPECT_EQ(read("500ms"), 500ms);
  EXPECT_EQ(read("30s"), 30s);
  EXPECT_EQ(read("15m"), 15min);
  EXPECT_EQ(read("6h"), 6h);
  EXPECT_EQ(read("2d"), 48h);
}

TEST(ParseDuration, reads_hours_and_minutes) {
  EXPECT_EQ(read("1h30m"), 90min);
  EXPECT_EQ(read("1d2h3m4s5ms"), 24h + 2h + 3min + 4s + 5ms);
  EXPECT_EQ(read("90m"), 90min);
}

TEST(ParseDuration, takes_a_bare_number_as_seconds) {
  EXPECT_EQ(read("90"), 90s);
  EXPECT_EQ(read("1.5"), 1500ms);
  EXPECT_EQ(read("0"), 0s);
}

TEST(ParseDuration, takes_a_fraction_of_the_last_unit) {
  EXPECT_EQ(read("1.5h"), 90min);
  EXPECT_EQ(read("1m0.25s"), 60'250ms);
  EXPECT_EQ(read("1.50000000000s"), 1500ms);
}

TEST(ParseDuration, says_what_is_allowed) {
  EXPECT_EQ(error_of("soon"),
            "'soon' is no duration: write 500ms, 30s, 15m, 1h30m or 2d; a bare number is seconds");
}

TEST(ParseDuration, refuses_what_is_ambiguous_or_no_duration) {
  for (const std::string_view text :
       {"",   " 5s", "5s ", "-5s",  "+5s", "5 s",  "1h30", "30m1h", "1m1m", "1.5h30m",
        "1.", ".5",  "5S",  "5min", "1e3", "0x10", "nan",  "inf",   "5s\n", "none"}) {
    EXPECT_NE(error_of(text).find("is no duration"), std::string::npos) << text;
  }
}

TEST(ParseDuration, refuses_times_past_the_longest) {
  EXPECT_EQ(read("1095000d"), kLongestTime);
  EXPECT_EQ(error_of("1095001d"), "'1095001d' is longer than 3000 years");
  EXPECT_EQ(error_of("1095000d1ms"), "'1095000d1ms' is longer than 3000 years");
  EXPECT_EQ(error_of("99999999999999999999999s"),
            "'99999999999999999999999s' is longer than 3000 years");
}

TEST(ParseDuration, refuses_what_is_finer_than_a_millisecond) {
  EXPECT_EQ(error_of("0.0005"), "'0.0005' is finer than a millisecond");
  EXPECT_EQ(error_of("0.5ms"), "'0.5ms' is finer than a millisecond");
  EXPECT_EQ(error_of("0.12345678901s"), "'0.12345678901s' is finer than a millisecond");
}

TEST(FormatDuration, takes_the_shortest_exact_form) {
  EXPECT_EQ(format_duration(0s), "0s");
  EXPECT_EQ(format_duration(250ms), "250ms");
  EXPECT_EQ(format_duration(1500ms), "1.5s");
  EXPECT_EQ(format_duration(90s), "1m30s");
  EXPECT_EQ(format_duration(90min), "1h30m");
  EXPECT_EQ(format_duration(48h), "2d");
  EXPECT_EQ(format_duration(24h + 1ms), "1d0.001s");
  EXPECT_EQ(format_duration(-90s), "-1m30s");
  EXPECT_EQ(format_duration(kNoLimit), "none");
}

TEST(FormatDuration, is_read_back_as_the_same_time) {
  for (const Duration duration : {Duration{0}, Duration{1}, Duration{999}, Duration{1'001},
                                  Duration{61'010}, Duration{86'400'001}, Duration{kLongestTime}}) {
    EXPECT_EQ(read(format_duration(duration)), duration) << format_duration(duration);
  }
}

TEST(FormatSeconds, writes_whole_or_decimal_seconds) {
  EXPECT_EQ(format_seconds(720s), "720 s");
  EXPECT_EQ(format_seconds(500ms), "0.5 s");
  EXPECT_EQ(format_seconds(1'050ms), "1.05 s");
  EXPECT_EQ(format_seconds(-5s), "-5 s");
  EXPECT_EQ(format_seconds(kNoLimit), "no limit");
}

}  // namespace
}  // namespace tend
