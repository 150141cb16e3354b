// Durations as people write them: 500ms, 30s, 15m, 1h30m, 2d; a bare number is seconds.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace tend {

/// Reads "500ms", "30s", "15m", "1h30m", "2d", "1.5" (seconds). Never negative, at most
/// kLongestTime. The error says what is allowed.
Result<Duration> parse_duration(std::string_view text);

/// The shortest exact form: "1h30m", "90s" becomes "1m30s", "0s", "250ms".
std::string format_duration(Duration duration);

/// Whole or decimal seconds with their unit, as reasons are worded: "720 s", "0.5 s".
std::string format_seconds(Duration duration);

}  // namespace tend
