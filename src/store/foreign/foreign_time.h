// Times as other systems write them, read and written in their own way:
//
//   2026-01-04T20:19:13.123Z     RFC 3339, 0 to 9 decimals, any offset
//   1773002269, 1773002269.25    Unix seconds
//   1773002269250                Unix milliseconds
//   "1773002269"                 a number in a text
//   Sun Jan  4 20:19:13 2026     as `ps -o lstart` shows it, local
//   2026-01-04 20:19:13          local, or UTC where SQLite wrote it
//
// A number is seconds below 1e11 and milliseconds from there on. Nothing is ambiguous: of all times
// from the year 2000 on, seconds reach 1e11 in the year 5138 only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "store/json.h"

namespace tend {

struct TimeStyle {
  enum class Kind : std::uint8_t { rfc3339, plain, seconds, milliseconds, ps };

  Kind kind = Kind::rfc3339;
  int decimals = 0;             // of a second; of a millisecond for milliseconds
  bool in_quotes = true;        // in JSON
  char separator = 'T';         // between date and clock
  bool zulu = true;             // "Z" in place of "+00:00"
  std::chrono::minutes east{};  // of UTC; what the clock of the text is ahead

  bool operator==(const TimeStyle&) const = default;
};

struct ForeignTime {
  WallTime at{};
  TimeStyle style;
};

/// What a text does not say of itself.
struct TimeContext {
  WallTime now{};
  /// How far local clocks are ahead of UTC. An hour that daylight saving repeats is read as it is
  /// now, not as it was then.
  std::chrono::minutes local_east{};
  /// A date and a clock without an offset are local, and not UTC as SQLite has them.
  bool plain_is_local = false;
};

/// Fails with a reason on what is no time, and on the absurd: before the year 2000, or more than a
/// day ahead of now.
Result<ForeignTime> parse_foreign_time(std::string_view text, const TimeContext& context);
/// The same for a value of a JSON text: a text or a number.
Result<ForeignTime> foreign_time_of(const ReadJson& value, const TimeContext& context);
/// How a value of a JSON text was written, as it stands there; also of a time that cannot be.
std::optional<TimeStyle> style_of_time(std::string_view json, const TimeContext& context);
/// Fails with the reason if no sign of life can be of that time.
Result<void> check_plausible(WallTime at, WallTime now);

/// In the style of a sample, without quotes. What the style has no digits for is cut off, so that
/// no time comes out later than it is. Requires a time from 1970 to 2261.
std::string format_foreign_time(WallTime at, const TimeStyle& style);
/// The same as a value in JSON.
std::string json_of_time(WallTime at, const TimeStyle& style);

}  // namespace tend
