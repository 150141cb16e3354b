// See probe_of.h.
#include "run/probe_of.h"

#include <algorithm>
#include <string_view>

#include "store/probe_env.h"

namespace tend {
namespace {

std::optional<std::string> value_in(std::span<const std::string> environment,
                                    std::string_view name) {
  const auto found = std::ranges::find_if(environment, [&](const std::string& entry) {
    return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
  });
  if (found == environment.end()) return std::nullopt;
  return found->substr(name.size() + 1);
}

/// A file that is not there says nothing.
Result<HeartbeatTimes> times_in_file(const std::string& path, Files& files) {
  if (path.empty()) return HeartbeatTimes{};
  const auto text = files.read(path, kLargestEnvFile);
  if (!text) return std::unexpected(text.error());
  if (!*text) return HeartbeatTimes{};
  auto times = heartbeat_times(**text);
  if (!times) return fail(path + ": " + times.error().text);
  return times;
}

}  // namespace

std::string path_of_user(std::string path, std::span<const std::string> environment) {
  if (path == "~" || path.starts_with("~/")) {
    path.replace(0, 1, value_in(environment, "HOME").value_or(""));
  }
  return path;
}

Result<std::optional<ProbeSettings>> probe_of(const Config& config, const AgentFile& agent,
                                              std::span<const std::string> environment,
                                              Files& files) {
  const auto found = config.probes.find(agent.agent);
  if (found == config.probes.end()) return std::nullopt;
  auto times = times_in_file(path_of_user(found->second.env_file, environment), files);
  if (!times) return std::unexpected(times.error());
  const auto own = heartbeat_times(value_in(environment, kIntervalVariable),
                                   value_in(environment, kTimeoutVariable));
  if (!own) return std::unexpected(own.error());
  if (own->interval) times->interval = own->interval;
  if (own->deadline) times->deadline = own->deadline;
  auto settings = with_times(found->second, *times);
  if (!settings) return std::unexpected(settings.error());
  settings->file = path_of_user(settings->file, environment);
  return *settings;
}

}  // namespace tend
