// Time without a clock. Nothing here can read the time: only os/ can, so everything above it
// can be replayed exactly.
#pragma once

#include <chrono>
#include <cstdint>

namespace tend {

/// The observer's own clock (on Linux: BOOTTIME, so the time a machine sleeps is part of it).
struct Monotonic {};

using Duration = std::chrono::milliseconds;
using Instant = std::chrono::time_point<Monotonic, Duration>;

/// The calendar: nanoseconds since 1970. It does not convert to an Instant; no age is made of it.
struct Calendar {};
using WallTime = std::chrono::time_point<Calendar, std::chrono::nanoseconds>;

/// Seconds since 1970, as files and JSON hold them.
inline double calendar_seconds(WallTime at) {
  return std::chrono::duration<double>(at.time_since_epoch()).count();
}

/// "No limit". Small enough that adding it to any instant of a trace cannot overflow.
inline constexpr Duration kNoLimit = std::chrono::hours{24 * 365 * 10'000};

/// The largest time that is read from a trace, a snapshot or a configuration: about 3,000 years.
inline constexpr Duration kLongestTime = std::chrono::hours{24 * 365 * 3'000};

}  // namespace tend
