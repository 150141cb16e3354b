// A text is tried as a number first, then as what begins with a digit, then as what `ps` shows.
#include "store/foreign/foreign_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>

#include "base/calendar.h"
#include "base/check.h"
#include "base/quote.h"

namespace tend {
namespace {

using namespace std::chrono;

constexpr std::size_t kLongestTimeText = 64;
constexpr std::int64_t kFirstMilliseconds = 100'000'000'000;
constexpr std::int64_t kLargestNumber = 100'000'000'000'000;
constexpr WallTime kYear2000{seconds{946'684'800}};
constexpr int kMostDecimals = 9;

constexpr std::array<std::string_view, 7> kWeekdays{"Sun", "Mon", "Tue", "Wed",
                                                    "Thu", "Fri", "Sat"};
constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                   "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::int64_t power_of_ten(int exponent) {
  std::int64_t power = 1;
  for (int i = 0; i < exponent; ++i) power *= 10;
  return power;
}

/// The digits after the point, as nanoseconds of a second.
std::int64_t billionths(std::string_view digits) {
  std::int64_t value = 0;
  for (std::size_t i = 0; i < kMostDecimals; ++i) {
    value = value * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  }
  return value;
}

/// Digits, and a point with digits behind it; an exponent is taken as a computer would.
std::optional<ForeignTime> parse_number(std::string_view text) {
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string_view decimals = text.substr(std::min(point + 1, text.size()));
  const bool plain = std::ranges::all_of(text.substr(0, point), is_digit) &&
                     std::ranges::all_of(decimals, is_digit);
  std::int64_t whole = 0;
  if (plain) {
    if (point != text.size() && decimals.empty()) return std::nullopt;
    const std::string_view digits = text.substr(0, point);
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), whole);
    if (read.ec != std::errc{}) whole = kLargestNumber;
  } else {
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ptr != text.data() + text.size()) return std::nullopt;
    const bool fits = read.ec == std::errc{} && value < static_cast<double>(kLargestNumber);
    whole = fits ? static_cast<std::int64_t>(value) : kLargestNumber;
    decimals = {};
  }
  ForeignTime time;
  time.style.in_quotes = false;
  time.style.decimals = static_cast<int>(std::min<std::size_t>(decimals.size(), kMostDecimals));
  whole = std::min(whole, kLargestNumber);
  if (whole < kFirstMilliseconds) {
    time.style.kind = TimeStyle::Kind::seconds;
    // Past what nanoseconds since 1970 can hold it is past any plausible time too.
    whole = std::min<std::int64_t>(whole, 9'000'000'000);
    time.at = WallTime{seconds{whole} + nanoseconds{billionths(decimals)}};
  } else {
    time.style.kind = TimeStyle::Kind::milliseconds;
    whole = std::min<std::int64_t>(whole, 9'000'000'000'000);
    time.at = WallTime{milliseconds{whole} + nanoseconds{billionths(decimals) / 1000}};
  }
  return time;
}

/// A date and a clock, with or without an offset.
std::optional<ForeignTime> parse_date(std::string_view text, const TimeContext& context) {
  constexpr std::size_t kClock = 19;  // "2026-01-04T20:19:13"
  if (text.size() < kClock) return std::nullopt;
  ForeignTime time;
  time.style.separator = text[10];
  std::size_t end = kClock;
  if (end < text.size() && text[end] == '.') {
    for (++end; end < text.size() && is_digit(text[end]); ++end) ++time.style.decimals;
  }
  time.style.decimals = std::min(time.style.decimals, kMostDecimals);
  const std::string_view offset = text.substr(end);
  time.style.zulu = offset == "Z" || offset == "z";
  if (offset.empty()) {
    time.style.kind = TimeStyle::Kind::plain;
    time.style.east = context.plain_is_local ? context.local_east : minutes{};
    const auto read = parse_calendar(std::string(text) + "Z");
    if (!read) return std::nullopt;
    time.at = *read - time.style.east;
    return time;
  }
  const auto read = parse_calendar(text);
  if (!read) return std::nullopt;
  time.at = *read;
  if (!time.style.zulu) {  // "+02:00": parse_calendar() has looked at every character
    time.style.east = hours{(offset[1] - '0') * 10 + (offset[2] - '0')} +
                      minutes{(offset[4] - '0') * 10 + (offset[5] - '0')};
    if (offset[0] == '-') time.style.east = -time.style.east;
  }
  return time;
}

/// "Sun Jan  4 20:19:13 2026"
std::optional<ForeignTime> parse_ps(std::string_view text, const TimeContext& context) {
  constexpr std::size_t kWidth = 24;
  if (text.size() != kWidth || text[3] != ' ' || text[7] != ' ' || text[19] != ' ') {
    return std::nullopt;
  }
  const auto* const month = std::ranges::find(kMonths, text.substr(4, 3));
  if (month == kMonths.end() || std::ranges::count(kWeekdays, text.substr(0, 3)) == 0) {
    return std::nullopt;
  }
  std::string day(text.substr(8, 2));
  if (day[0] == ' ') day[0] = '0';
  const auto read = parse_calendar(fmt::format(
      "{}-{:02}-{}T{}Z", text.substr(20), month - kMonths.begin() + 1, day, text.substr(11, 8)));
  if (!read || text[10] != ' ') return std::nullopt;
  ForeignTime time;
  time.style.kind = TimeStyle::Kind::ps;
  time.style.east = context.local_east;
  time.at = *read - context.local_east;
  return time;
}

std::optional<ForeignTime> read_time(std::string_view text, const TimeContext& context) {
  if (text.size() > kLongestTimeText) return std::nullopt;
  if (auto time = parse_number(text)) {
    time->style.in_quotes = true;
    return time;
  }
  const auto time = parse_date(text, context);
  return time ? time : parse_ps(text, context);
}

std::string with_decimals(std::int64_t whole, std::int64_t billionth, int decimals) {
  if (decimals == 0) return std::to_string(whole);
  return fmt::format("{}.{:0{}}", whole, billionth / power_of_ten(kMostDecimals - decimals),
                     decimals);
}

}  // namespace

Result<void> check_plausible(WallTime at, WallTime now) {
  if (at < kYear2000) return fail("the time is before the year 2000");
  if (at - now > days{1}) return fail("the time is more than a day ahead");
  return {};
}

Result<ForeignTime> parse_foreign_time(std::string_view text, const TimeContext& context) {
  const auto time = read_time(text, context);
  if (!time) return fail(in_quotes(text) + " is no time");
  if (auto fits = check_plausible(time->at, context.now); !fits) {
    return fail(in_quotes(text) + ": " + fits.error().text);
  }
  return *time;
}

std::optional<TimeStyle> style_of_time(std::string_view json, const TimeContext& context) {
  const bool quoted = json.size() >= 2 && json.front() == '"' && json.back() == '"';
  const auto time = read_time(quoted ? json.substr(1, json.size() - 2) : json, context);
  if (!time) return std::nullopt;
  TimeStyle style = time->style;
  style.in_quotes = quoted;
  return style;
}

Result<ForeignTime> foreign_time_of(const ReadJson& value, const TimeContext& context) {
  if (value.is_string()) return parse_foreign_time(value.get_ref<const std::string&>(), context);
  if (!value.is_number()) return fail("the time is neither a text nor a number");
  auto time = parse_foreign_time(value.dump(), context);
  if (time) time->style.in_quotes = false;
  return time;
}

std::string format_foreign_time(WallTime at, const TimeStyle& style) {
  CHECK(style.decimals >= 0 && style.decimals <= kMostDecimals);
  const nanoseconds since = at.time_since_epoch();
  if (style.kind == TimeStyle::Kind::seconds) {
    const auto whole = floor<seconds>(since);
    return with_decimals(whole.count(), (since - whole).count(), style.decimals);
  }
  if (style.kind == TimeStyle::Kind::milliseconds) {
    const auto whole = floor<milliseconds>(since);
    return with_decimals(whole.count(), (since - whole).count() * 1000, style.decimals);
  }
  const nanoseconds shown = since + style.east;
  const auto day = floor<days>(shown);
  const year_month_day date{sys_days{day}};
  const hh_mm_ss clock{floor<seconds>(shown - day)};
  const std::string time = fmt::format("{:02}:{:02}:{:02}", clock.hours().count(),
                                       clock.minutes().count(), clock.seconds().count());
  const auto month = static_cast<unsigned>(date.month());
  const auto year = static_cast<int>(date.year());
  if (style.kind == TimeStyle::Kind::ps) {
    return fmt::format("{} {} {:>2} {} {:04}", kWeekdays[weekday{sys_days{day}}.c_encoding()],
                       kMonths[month - 1], static_cast<unsigned>(date.day()), time, year);
  }
  std::string text = fmt::format("{:04}-{:02}-{:02}{}{}", year, month,
                                 static_cast<unsigned>(date.day()), style.separator, time);
  if (style.decimals > 0) {
    const std::int64_t billionth = (shown - floor<seconds>(shown)).count();
    text += with_decimals(0, billionth, style.decimals).substr(1);
  }
  if (style.kind == TimeStyle::Kind::plain) return text;
  if (style.zulu) return text + "Z";
  const auto east = style.east < minutes{} ? -style.east : style.east;
  return text + fmt::format("{}{:02}:{:02}", style.east < minutes{} ? '-' : '+', east.count() / 60,
                            east.count() % 60);
}

std::string json_of_time(WallTime at, const TimeStyle& style) {
  const std::string text = format_foreign_time(at, style);
  return style.in_quotes ? '"' + text + '"' : text;
}

}  // namespace tend
