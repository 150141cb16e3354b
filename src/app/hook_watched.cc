// A file a process, so that nobody who notes one can lose another's.
#include "app/hook_watched.h"

#include <charconv>
#include <string_view>
#include <tuple>

namespace tend {
namespace {

constexpr std::size_t kMostNoted = 10'000;
constexpr std::size_t kLongestPath = 8192;

std::string name_of(std::int64_t pid, std::uint64_t start_ticks) {
  return std::to_string(pid) + "-" + std::to_string(start_ticks);
}

std::optional<std::int64_t> pid_in(std::string_view name) {
  std::int64_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  const bool is_pid = error == std::errc{} && end != name.data() + name.size() && *end == '-';
  if (!is_pid || pid <= 0) return std::nullopt;
  return pid;
}

/// One that cannot be known is kept.
bool is_gone(Processes& processes, const std::string& name) {
  const auto pid = pid_in(name);
  if (!pid) return false;
  const auto now = processes.identify(*pid);
  return now && (!*now || name_of(*pid, (*now)->start_ticks) != name);
}

std::string path_in(const Environment& environment, const std::string& variable) {
  auto value = environment.variable(variable).value_or("");
  while (value.size() > 1 && value.ends_with('/')) value.pop_back();
  return value.starts_with('/') ? value : "";
}

}  // namespace

Result<std::string> watched_path(const Environment& environment) {
  if (const auto home = path_in(environment, "TEND_HOME"); !home.empty()) return home + "/watched";
  if (const auto state = path_in(environment, "XDG_STATE_HOME"); !state.empty()) {
    return state + "/tend/watched";
  }
  if (const auto user = path_in(environment, "HOME"); !user.empty()) {
    return user + "/.local/state/tend/watched";
  }
  return fail("no place for Tend's files: set TEND_HOME or HOME");
}

Result<void> note_watched(Machine& machine, const Environment& environment,
                          const ProcessId& process, const std::string& folder) {
  const auto path = watched_path(environment);
  if (!path) return std::unexpected(path.error());
  const auto noted = machine.folders.make(*path);
  if (!noted) return std::unexpected(noted.error());
  if (const auto names = (*noted)->file_names(kMostNoted)) {
    for (const std::string& name : *names) {
      if (is_gone(machine.processes, name)) std::ignore = (*noted)->remove(name);
    }
  }
  return (*noted)->replace(name_of(process.pid, process.start_ticks), folder + "\n",
                           Folder::Sync::no);
}

std::optional<WatchedAncestor> find_watched(Files& files, const Environment& environment,
                                            std::span<const Ancestor> ancestors) {
  const auto path = watched_path(environment);
  if (!path) return std::nullopt;
  for (std::size_t i = 0; i < ancestors.size(); ++i) {
    const std::string name = name_of(ancestors[i].pid, ancestors[i].start_ticks);
    auto text = files.read(*path + "/" + name, kLongestPath);
    if (!text || !*text) continue;
    while ((*text)->ends_with('\n')) (*text)->pop_back();
    return WatchedAncestor{**std::move(text), i};
  }
  return std::nullopt;
}

}  // namespace tend
