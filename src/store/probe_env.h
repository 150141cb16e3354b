// How often an agent is asked, as other systems write it: HEARTBEAT_INTERVAL and HEARTBEAT_TIMEOUT,
// whole seconds, in the environment or in a `.env` file. Such a file is lines of NAME=VALUE, with
// `export` before it or not, the value in quotes or not, a comment behind it or not; all other
// names are none of our business, and no error shows anything of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "store/probe_settings.h"

namespace tend {

inline constexpr std::string_view kIntervalVariable = "HEARTBEAT_INTERVAL";
inline constexpr std::string_view kTimeoutVariable = "HEARTBEAT_TIMEOUT";
inline constexpr std::size_t kLargestEnvFile = 1'000'000;  // bytes

struct HeartbeatTimes {
  std::optional<Duration> interval;
  std::optional<Duration> deadline;

  bool operator==(const HeartbeatTimes&) const = default;
};

/// Of a `.env` file. The last line of a name counts, an empty value is none. The error names the
/// line.
Result<HeartbeatTimes> heartbeat_times(std::string_view env_file);
/// Of the environment.
Result<HeartbeatTimes> heartbeat_times(const std::optional<std::string>& interval,
                                       const std::optional<std::string>& timeout);

/// The settings with these times in the place of theirs. Fails if a deadline came to be below its
/// interval.
Result<ProbeSettings> with_times(ProbeSettings settings, const HeartbeatTimes& times);

}  // namespace tend
