// Each promise of Processes, handed to the part that keeps it.
#include "os/linux/linux_process.h"

#include <fmt/format.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "os/linux/fd.h"
#include "os/linux/linux_groups.h"
#include "os/linux/linux_held.h"
#include "os/linux/linux_pidfd.h"
#include "os/linux/linux_received.h"
#include "os/linux/linux_run.h"
#include "os/linux/linux_spawn.h"

namespace tend {
namespace {

bool is_same_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

}  // namespace

LinuxProcesses::LinuxProcesses(LinuxLoop& loop) : loop_(loop), reaper_(loop) {}

const Result<Place>& LinuxProcesses::place() {
  if (!place_) place_ = read_place();
  return place_;
}

ProcessId LinuxProcesses::self() {
  ProcessId id{.pid = ::getpid()};
  if (place()) {
    id.pid_ns = place_->pid_ns;
    id.boot_id = place_->boot_id;
  }
  if (const auto stat = read_stat(id.pid); stat && *stat) id.start_ticks = (*stat)->start_ticks;
  return id;
}

Result<std::optional<ProcessId>> LinuxProcesses::identify(std::int64_t pid) {
  if (!place()) return fail(place_.error().text);
  const auto pidfd = open_pidfd(pid);
  if (!pidfd) {
    const int error = pidfd.error();
    if (error == ESRCH || error == ENOENT || error == EINVAL) return std::nullopt;
    return fail(fmt::format("cannot look at process {}: {}", pid, system_says(error)));
  }
  const auto stat = read_stat(pid);
  if (!stat) return fail(stat.error().text);
  if (*stat) return ProcessId{pid, (*stat)->start_ticks, place_->pid_ns, place_->boot_id};
  if (send_signal(pidfd->get(), 0) == ESRCH) return std::nullopt;
  return fail(fmt::format("process {} is hidden in /proc", pid));
}

std::unique_ptr<Process> LinuxProcesses::open(const ProcessId& id) {
  return std::make_unique<LinuxProcess>(loop_, reaper_, place(), id);
}

std::uint64_t LinuxProcesses::disk_bytes(const ProcessId& id) { return read_disk_bytes(id.pid); }

std::optional<std::uint64_t> LinuxProcesses::received_bytes(std::span<const ProcessId> ids) {
  std::vector<std::int64_t> pids;
  for (const ProcessId& id : ids) pids.push_back(id.pid);
  return tend::received_bytes(pids);
}

std::optional<std::vector<std::string>> LinuxProcesses::environment_of(const ProcessId& id) {
  const auto is_still = [&] {
    const auto now = identify(id.pid);
    return now && *now && **now == id;
  };
  if (!is_still()) return std::nullopt;
  auto environment = read_environment(id.pid);
  // The pid may have come to mean another while it was read.
  return is_still() ? environment : std::nullopt;
}

double LinuxProcesses::started(const ProcessId& id) { return calendar_time(id.start_ticks); }

std::expected<std::unique_ptr<GatedChild>, NotStarted> LinuxProcesses::spawn(const Launch& launch) {
  if (!place()) return std::unexpected(NotStarted{126, place_.error().text});
  reaper_.adopt_orphans();
  return spawn_gated(loop_, reaper_, *place_, launch);
}

Result<void> LinuxProcesses::detach(const Launch& launch) {
  reaper_.start();
  return start_detached(reaper_, launch);
}

Result<void> LinuxProcesses::become(const Launch& launch) { return become_program(launch); }

Result<std::string> LinuxProcesses::own_program() {
  constexpr const char* kSelf = "/proc/self/exe";
  constexpr std::string_view kDeleted = " (deleted)";
  std::array<char, PATH_MAX> buffer{};
  const ssize_t length = ::readlink(kSelf, buffer.data(), buffer.size());
  if (length < 0) return fail(fmt::format("cannot read {}: {}", kSelf, system_says(errno)));
  std::string path(buffer.data(), static_cast<std::size_t>(length));
  struct stat running{}, found{};
  if (::stat(kSelf, &running) != 0) {
    return fail(fmt::format("cannot read {}: {}", kSelf, system_says(errno)));
  }
  if (::stat(path.c_str(), &found) == 0 && is_same_file(running, found)) return path;
  // Replaced while it runs: the new file is the one that later starts should run.
  if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
  if (::stat(path.c_str(), &found) == 0 && S_ISREG(found.st_mode)) return path;
  return kSelf;
}

Result<std::vector<Seen>> LinuxProcesses::all(std::string_view variable) {
  if (!place()) return fail(place_.error().text);
  std::vector<Seen> seen;
  const auto listed = list_processes([&](const Listed& process) {
    const ProcStat& stat = process.stat;
    seen.push_back({
        .id = {stat.pid, stat.start_ticks, place_->pid_ns, place_->boot_id},
        .parent = stat.parent,
        .zombie = stat.is_zombie(),
        .mark = variable.empty() ? std::nullopt : read_variable(process, variable),
        .cpu = as_duration(stat.cpu_ticks),
        .job = stat.job,
    });
  });
  if (!listed) return fail(listed.error().text);
  return seen;
}

std::string LinuxProcesses::make_group(const std::string& name) {
  return tend::make_group(name, groups_folder_);
}

std::vector<std::int64_t> LinuxProcesses::members(const std::string& group) {
  return group_members(group);
}

void LinuxProcesses::remove_group(const std::string& group) { tend::remove_group(group); }

bool LinuxProcesses::childless(const std::string& group) {
  return group.empty() ? reaper_.is_childless() : group_is_empty(group);
}

Subscribed LinuxProcesses::run(const Run& run, std::function<void(Result<Ran>)> done) {
  return run_command(loop_, reaper_, place(), run, std::move(done));
}

}  // namespace tend
