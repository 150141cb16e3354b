// The calendar is reckoned, not asked for: nobody here reads a clock or a time zone.
#include "app/when.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace tend {
namespace {

using namespace std::chrono_literals;

using Days = std::chrono::sys_days;

struct Parts {
  std::chrono::year_month_day date{};
  std::chrono::hh_mm_ss<std::chrono::seconds> time;
};

Parts parts_of(WallTime at) {
  const auto since_1970 = std::chrono::floor<std::chrono::seconds>(at.time_since_epoch());
  const auto days = std::chrono::floor<std::chrono::days>(since_1970);
  return {std::chrono::year_month_day(Days{days}), std::chrono::hh_mm_ss(since_1970 - days)};
}

}  // namespace

std::string short_age(Duration age) {
  age = std::max(age, Duration{});
  if (age < 1min) return fmt::format("{}s", age / 1s);
  if (age < 1h) return fmt::format("{}m", age / 1min);
  if (age < 24h) return fmt::format("{}h{:02}m", age / 1h, age % 1h / 1min);
  return fmt::format("{}d{:02}h", age / 24h, age % 24h / 1h);
}

std::string age_label(WallTime then, WallTime now) {
  if (then == WallTime{}) return "-";
  return short_age(std::chrono::duration_cast<Duration>(now - then));
}

std::string clock_label(WallTime at) {
  const auto time = parts_of(at).time;
  return fmt::format("{:02}:{:02}:{:02}", time.hours().count(), time.minutes().count(),
                     time.seconds().count());
}

std::string date_label(WallTime at) {
  const auto date = parts_of(at).date;
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

WallTime calendar_time(double seconds) {
  return WallTime{std::chrono::nanoseconds{static_cast<std::int64_t>(seconds * 1e9)}};
}

}  // namespace tend
