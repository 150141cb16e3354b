// One pass over the lines. What a shell would make of `$` or a backslash is not tried: a value with
// those is no number.
#include "store/probe_env.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "base/duration.h"
#include "base/quote.h"

namespace tend {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// Without quotes; else without the comment that a blank sets apart.
std::string_view bare_value(std::string_view text) {
  text = trimmed(text);
  if (!text.empty() && (text.front() == '"' || text.front() == '\'')) {
    const std::size_t end = text.find(text.front(), 1);
    const std::string_view rest =
        end == std::string_view::npos ? text : trimmed(text.substr(end + 1));
    return rest.empty() || rest.front() == '#' ? text.substr(1, end - 1) : text;
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '#') continue;
    if (at == 0 || kBlanks.contains(text[at - 1])) return trimmed(text.substr(0, at));
  }
  return text;
}

struct Assignment {
  std::string_view name;
  std::string_view value;
};

std::optional<Assignment> assignment_in(std::string_view line) {
  constexpr std::string_view kExport = "export";
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  std::string_view name = trimmed(line.substr(0, equals));
  if (name.starts_with(kExport) && name.size() > kExport.size() &&
      kBlanks.contains(name[kExport.size()])) {
    name = trimmed(name.substr(kExport.size()));
  }
  return Assignment{name, bare_value(line.substr(equals + 1))};
}

Result<std::optional<Duration>> seconds_in(std::string_view name, std::string_view value) {
  if (value.empty()) return std::nullopt;
  constexpr std::int64_t kMost =
      std::chrono::duration_cast<std::chrono::seconds>(kLongestTime).count();
  std::int64_t number = 0;
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  if (error == std::errc{} && stop == end && number > 0 && number <= kMost) {
    return std::chrono::seconds{number};
  }
  return fail(fmt::format("{} is {}; it has to be a whole number of seconds above 0, like {}=300",
                          name, in_quotes(value), name));
}

/// Takes the value if the name is one of ours.
Result<void> take(HeartbeatTimes& times, const Assignment& assignment) {
  const bool is_interval = assignment.name == kIntervalVariable;
  if (!is_interval && assignment.name != kTimeoutVariable) return {};
  const auto seconds = seconds_in(assignment.name, assignment.value);
  if (!seconds) return std::unexpected(seconds.error());
  (is_interval ? times.interval : times.deadline) = *seconds;
  return {};
}

}  // namespace

Result<HeartbeatTimes> heartbeat_times(std::string_view env_file) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (env_file.starts_with(kByteOrderMark)) env_file.remove_prefix(kByteOrderMark.size());
  HeartbeatTimes times;
  for (std::size_t line = 1; !env_file.empty(); ++line) {
    const std::size_t end = std::min(env_file.find('\n'), env_file.size());
    const auto assignment = assignment_in(env_file.substr(0, end));
    env_file.remove_prefix(std::min(end + 1, env_file.size()));
    if (!assignment) continue;
    if (auto taken = take(times, *assignment); !taken) {
      return fail(fmt::format("line {}: {}", line, taken.error().text));
    }
  }
  return times;
}

Result<HeartbeatTimes> heartbeat_times(const std::optional<std::string>& interval,
                                       const std::optional<std::string>& timeout) {
  const auto value_of = [](const std::optional<std::string>& given) {
    return given ? trimmed(*given) : std::string_view();
  };
  HeartbeatTimes times;
  if (auto ok = take(times, {kIntervalVariable, value_of(interval)}); !ok) {
    return std::unexpected(ok.error());
  }
  if (auto ok = take(times, {kTimeoutVariable, value_of(timeout)}); !ok) {
    return std::unexpected(ok.error());
  }
  return times;
}

Result<ProbeSettings> with_times(ProbeSettings settings, const HeartbeatTimes& times) {
  settings.interval = times.interval.value_or(settings.interval);
  settings.deadline = times.deadline.value_or(settings.deadline);
  if (settings.deadline >= settings.interval) return settings;
  return fail(
      fmt::format("the deadline of {} ({}) is below the interval of {} ({}): raise one or "
                  "lower the other",
                  format_duration(settings.deadline), kTimeoutVariable,
                  format_duration(settings.interval), kIntervalVariable));
}

}  // namespace tend
