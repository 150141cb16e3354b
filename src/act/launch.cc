// The environment of a process, taken apart and put together.
#include "act/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

#include "act/ending.h"

namespace tend {
namespace {

// Said to one process and to no other: who an agent's process is, and what a service manager
// arranged with the process that it started.
constexpr auto kPersonal = std::to_array<std::string_view>({
    kMarkVariable,
    "TEND_LIFE",
    "TEND_AGENT",
    "TEND_PARENT_HEARTBEAT",
    "TEND_RESUME",
    "TEND_ATTEMPT",
    "TEND_ADAPTER",
    "TEND_TASK",
    "NOTIFY_SOCKET",
    "WATCHDOG_USEC",
    "WATCHDOG_PID",
    "LISTEN_PID",
    "LISTEN_FDS",
    "LISTEN_FDNAMES",
    "LISTEN_PIDFDID",
    "INVOCATION_ID",
});
constexpr std::string_view kHome = "TEND_HOME";
constexpr auto kActors = std::to_array<std::string_view>({"TEND_ACTOR", "BD_ACTOR", "BEADS_ACTOR"});

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

bool is_personal(std::string_view variable) {
  return std::ranges::find(kPersonal, name_of(variable)) != kPersonal.end();
}

/// Under another name it could not act on its own task.
bool names_another(std::string_view variable, const LaunchOrder& order) {
  const std::string_view name = name_of(variable);
  return std::ranges::find(kActors, name) != kActors.end() &&
         variable != fmt::format("{}={}", name, order.agent);
}

std::vector<std::string> environment_of(const LaunchOrder& order) {
  std::vector<std::string> result = keeper_environment(order.environment);
  std::erase_if(result, [&](const std::string& variable) {
    return name_of(variable) == kHome || (!order.task.empty() && names_another(variable, order));
  });
  const auto add = [&](std::string_view name, const auto& value) {
    result.push_back(fmt::format("{}={}", name, value));
  };
  add(kMarkVariable, order.folder);
  add(kHome, order.home);
  add("TEND_AGENT", order.agent);
  add("TEND_LIFE", order.life);
  if (!order.parent_heartbeat.empty()) add("TEND_PARENT_HEARTBEAT", order.parent_heartbeat);
  if (!order.task.empty()) add("TEND_TASK", order.task);
  if (order.resume) add("TEND_RESUME", 1);
  if (order.life > 1) add("TEND_ATTEMPT", order.attempt);
  if (!order.adapter.empty()) add("TEND_ADAPTER", order.adapter);
  if (!order.notify_socket.empty()) add("NOTIFY_SOCKET", order.notify_socket);
  if (order.watchdog) add("WATCHDOG_USEC", std::chrono::microseconds{*order.watchdog}.count());
  return result;
}

}  // namespace

Launch make_launch(const LaunchOrder& order) {
  Launch launch{
      .command = order.command,
      .environment = environment_of(order),
      .working_folder = order.working_folder,
      .output = order.output,
      .error = order.error,
      .inherit_input = order.inherit_input,
      .input = order.input,
      .group = order.group,
  };
  if (order.ready) launch.extra.push_back(*order.ready);
  return launch;
}

std::vector<std::string> keeper_environment(std::span<const std::string> base) {
  std::vector<std::string> result;
  std::ranges::remove_copy_if(base, std::back_inserter(result), is_personal);
  return result;
}

}  // namespace tend
