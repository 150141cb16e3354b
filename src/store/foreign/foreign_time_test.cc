// Every way of writing a time that was met in another system.
#include "store/foreign/foreign_time.h"

#include <gtest/gtest.h>

#include <string>

namespace tend {
namespace {

using namespace std::chrono;

constexpr WallTime kBeat{seconds{1'767'557'953}};  // 2026-01-04T20:19:13Z
const TimeContext kHere{.now = kBeat + minutes{5}, .local_east = minutes{120}};

ForeignTime parsed(std::string_view text, const TimeContext& context = kHere) {
  const auto time = parse_foreign_time(text, context);
  EXPECT_TRUE(time.has_value()) << text << ": " << time.error().text;
  return time.value_or(ForeignTime{});
}

std::string refused(std::string_view text) {
  const auto time = parse_foreign_time(text, kHere);
  EXPECT_FALSE(time.has_value()) << text;
  return time ? "" : time.error().text;
}

TEST(ForeignTime, is_rfc_3339_with_any_decimals_and_any_offset) {
  EXPECT_EQ(parsed("2026-01-04T20:19:13Z").at, kBeat);
  EXPECT_EQ(parsed("2026-01-04T20:19:13.123Z").at, kBeat + milliseconds{123});
  EXPECT_EQ(parsed("2026-01-04T20:19:13.123456789Z").at, kBeat + nanoseconds{123'456'789});
  EXPECT_EQ(parsed("2026-01-04T22:19:13+02:00").at, kBeat);
  EXPECT_EQ(parsed("2026-01-04T15:49:13.5-04:30").at, kBeat + milliseconds{500});
}

TEST(ForeignTime, is_unix_seconds_or_milliseconds_by_its_size) {
  EXPECT_EQ(parsed("1767557953").at, kBeat);
  EXPECT_EQ(parsed("1767557953.25").at, kBeat + milliseconds{250});
  EXPECT_EQ(parsed("1767557953250").at, kBeat + milliseconds{250});
  EXPECT_EQ(parsed("1.767557953e9").at, kBeat);
}

TEST(ForeignTime, is_a_number_or_a_text_in_json) {
  const auto of = [](const char* json) {
    return foreign_time_of(ReadJson::parse(json), kHere).value_or(ForeignTime{});
  };
  EXPECT_EQ(of("1767557953").at, kBeat);
  EXPECT_FALSE(of("1767557953").style.in_quotes);
  EXPECT_EQ(of("\"1767557953\"").at, kBeat);
  EXPECT_TRUE(of("\"1767557953\"").style.in_quotes);
  EXPECT_EQ(of("1767557953.125").at, kBeat + milliseconds{125});
  EXPECT_FALSE(foreign_time_of(ReadJson::parse("true"), kHere));
  EXPECT_FALSE(foreign_time_of(ReadJson::parse("[1767557953]"), kHere));
  EXPECT_FALSE(foreign_time_of(ReadJson::parse("-5"), kHere));
}

TEST(ForeignTime, is_local_as_ps_shows_it) {
  EXPECT_EQ(parsed("Sun Jan  4 22:19:13 2026").at, kBeat);
  EXPECT_EQ(parsed("Sun Jan 04 22:19:13 2026").at, kBeat);
  refused("Sun Jan 4 22:19:13 2026");
  refused("Son Jan  4 22:19:13 2026");
  refused("Sun Jän  4 22:19:13 2026");
}

TEST(ForeignTime, without_an_offset_is_utc_for_sqlite_and_local_for_others) {
  EXPECT_EQ(parsed("2026-01-04 20:19:13").at, kBeat);
  EXPECT_EQ(parsed("2026-01-04 20:19:13.5").at, kBeat + milliseconds{500});
  TimeContext local = kHere;
  local.plain_is_local = true;
  EXPECT_EQ(parsed("2026-01-04 22:19:13", local).at, kBeat);
  EXPECT_EQ(parsed("2026-01-04T22:19:13.000001", local).at, kBeat + microseconds{1});
}

TEST(ForeignTime, is_refused_when_it_is_absurd) {
  EXPECT_EQ(refused("1970-01-01T00:00:00.000Z"),
            "'1970-01-01T00:00:00.000Z': the time is before the year 2000");
  EXPECT_EQ(refused("0"), "'0': the time is before the year 2000");
  EXPECT_EQ(refused("2026-01-06T20:19:13Z"),
            "'2026-01-06T20:19:13Z': the time is more than a day ahead");
  EXPECT_EQ(parsed("2026-01-05T20:19:13Z").at, kBeat + days{1}) << "clocks differ";
  for (const char* text : {"99999999999", "99999999999999999999999", "1767557953000000", "1e300"}) {
    EXPECT_NE(refused(text).find("a day ahead"), std::string::npos) << text;
  }
}

TEST(ForeignTime, is_refused_when_it_is_none) {
  for (const char* text :
       {"", "never", "-1", "0x10", "1767557953.", ".5", "1767557953 ", "nan", "inf", "12:30",
        "2026-13-04T20:19:13Z", "2026-01-04T20:19:13.Z", "2026-01-04T20:19:13+2",
        "2026-01-04T20:19:13ZZ", "2026-01-04X20:19:13Z", "15m"}) {
    EXPECT_NE(refused(text).find("is no time"), std::string::npos) << text;
  }
  refused(std::string(100, '1'));
}

TEST(ForeignTime, is_written_as_the_sample_was) {
  TimeContext local = kHere;
  local.plain_is_local = true;
  for (const char* sample :
       {"2026-01-04T20:19:13Z", "2026-01-04T20:19:13.120Z", "2026-01-04T20:19:13.123456789Z",
        "2026-01-04T22:19:13.5+02:00", "2026-01-04T15:49:13-04:30", "1767557953", "1767557953.250",
        "1767557953250", "1767557953250.5", "Sun Jan  4 22:19:13 2026", "2026-01-04 22:19:13",
        "2026-01-04T22:19:13.000001"}) {
    const ForeignTime time = parsed(sample, local);
    EXPECT_EQ(format_foreign_time(time.at, time.style), sample);
    const WallTime later = kBeat + hours{10} + nanoseconds{987'654'321};
    const ForeignTime again = parsed(format_foreign_time(later, time.style), local);
    EXPECT_EQ(again.style, time.style) << sample;
    EXPECT_LE(again.at, later);
    EXPECT_LT(later - again.at, seconds{1}) << sample;
  }
}

TEST(ForeignTime, has_a_style_even_where_it_cannot_be) {
  const auto style = style_of_time("\"1970-01-01T00:00:00.000Z\"", kHere);
  ASSERT_TRUE(style.has_value());
  EXPECT_EQ(json_of_time(kBeat, *style), "\"2026-01-04T20:19:13.000Z\"");
  EXPECT_EQ(json_of_time(kBeat, style_of_time("0.00", kHere).value()), "1767557953.00");
  EXPECT_EQ(style_of_time("null", kHere), std::nullopt);
}

TEST(ForeignTime, keeps_its_quotes_in_json) {
  const auto in_json = [](const char* json) {
    const auto time = foreign_time_of(ReadJson::parse(json), kHere).value_or(ForeignTime{});
    return json_of_time(time.at, time.style);
  };
  for (const char* json : {"1767557953", "\"1767557953\"", "\"2026-01-04T20:19:13.123Z\""}) {
    EXPECT_EQ(in_json(json), json);
  }
}

}  // namespace
}  // namespace tend
