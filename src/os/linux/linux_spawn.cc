// Forks by clone3, so that the child is held by a pidfd and in its group from its first moment.
#include "os/linux/linux_spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <csignal>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/quote.h"
#include "os/linux/linux_groups.h"
#include "os/linux/linux_pidfd.h"

namespace tend {
namespace {

/// No handler of ours may run in a child.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsHeld() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

/// As fork(): the pid, 0 in the child, -1. In the parent `pidfd` becomes the child's.
pid_t fork_held(int& pidfd, int group) {
  const auto address = [](int& of) { return std::bit_cast<std::uintptr_t>(&of); };
  clone_args how{};
  how.flags = CLONE_PIDFD;
  how.pidfd = address(pidfd);
  how.exit_signal = SIGCHLD;
  if (group >= 0) {
    how.flags |= CLONE_INTO_CGROUP;
    how.cgroup = static_cast<decltype(how.cgroup)>(group);
  }
  const long forked = ::syscall(SYS_clone3, &how, sizeof how);
  if (forked >= 0 || errno != ENOSYS || group >= 0) return static_cast<pid_t>(forked);
  // Sandboxes that cannot look into clone3's arguments say that there is no such call.
  return static_cast<pid_t>(::syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, 0, &pidfd, 0, 0));
}

NotStarted cannot_start(const Plan& plan, const std::string& why) {
  return {126, fmt::format("cannot run {}: {}", in_quotes(plan.program.name()), why)};
}

Stream file_or_nothing(const std::string& path) {
  return {-1, path.empty() ? std::string("/dev/null") : path};
}

std::unique_ptr<Plan> plan_of(const Launch& launch) {
  for (const auto& [number, path] : launch.extra) CHECK(number > STDERR_FILENO);
  return std::make_unique<Plan>(Plan{
      .program = Program(launch.command, launch.environment),
      .working_folder = launch.working_folder,
      .input = launch.inherit_input ? Stream{} : file_or_nothing(launch.input),
      .output = launch.inherit_output ? Stream{} : file_or_nothing(launch.output),
      .error = launch.inherit_output ? Stream{} : file_or_nothing(launch.error),
      .input_flags = launch.input.empty() ? O_RDONLY : O_RDWR,
      .extra = launch.extra,
      .sign = launch.sign,
  });
}

class LinuxGatedChild final : public GatedChild {
 public:
  LinuxGatedChild(std::unique_ptr<Plan> plan, Forked child)
      : plan_(std::move(plan)), child_(std::move(child)) {}
  ~LinuxGatedChild() override {
    if (child_.process) child_.process->finish_off();
  }
  LinuxGatedChild(const LinuxGatedChild&) = delete;
  LinuxGatedChild& operator=(const LinuxGatedChild&) = delete;

  [[nodiscard]] const ProcessId& id() const override {
    CHECK(child_.process);
    return child_.process->id();
  }

  std::expected<std::unique_ptr<Process>, NotStarted> release() override {
    CHECK(child_.process);
    open_gate(child_.line.get());
    const auto trouble = hear(child_.line.get());
    child_.line.reset();
    if (!trouble) return std::move(child_.process);
    child_.process->finish_off();
    return std::unexpected(not_started(*plan_, *trouble));
  }

 private:
  std::unique_ptr<Plan> plan_;
  Forked child_;
};

}  // namespace

std::expected<Forked, NotStarted> fork_child(LinuxLoop& loop, Reaper& reaper, const Place& place,
                                             Plan& plan, bool gated, const std::string& group) {
  auto line = make_line();
  if (!line) return std::unexpected(cannot_start(plan, system_says(line.error())));
  Fd folder;
  if (!group.empty()) {
    folder = Fd(::open(group.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) {
      return std::unexpected(cannot_start(
          plan, fmt::format("cannot open its group {}: {}", in_quotes(group), system_says(errno))));
    }
  }
  int descriptor = -1;
  pid_t pid = -1;
  int error = 0;
  {
    const SignalsHeld held;
    pid = fork_held(descriptor, folder.get());
    error = errno;
    if (pid == 0) follow(plan, line->theirs.get(), gated);
  }
  if (pid < 0) return std::unexpected(cannot_start(plan, system_says(error)));
  Fd pidfd(descriptor);
  line->theirs.reset();
  const auto stat = read_stat(pid);
  if (!stat || !*stat) {
    LinuxProcess(loop, reaper, {.pid = pid}, std::move(pidfd)).finish_off();
    return std::unexpected(
        cannot_start(plan, stat ? "its child process vanished" : stat.error().text));
  }
  const ProcessId id{pid, (*stat)->start_ticks, place.pid_ns, place.boot_id};
  Forked forked;
  forked.process = std::make_unique<LinuxProcess>(loop, reaper, id, std::move(pidfd));
  forked.line = std::move(line->ours);
  return forked;
}

std::expected<std::unique_ptr<GatedChild>, NotStarted> spawn_gated(LinuxLoop& loop, Reaper& reaper,
                                                                   const Place& place,
                                                                   const Launch& launch) {
  if (auto no = refused(launch.command, launch.environment)) return std::unexpected(*no);
  auto plan = plan_of(launch);
  auto child = fork_child(loop, reaper, place, *plan, true, launch.group);
  if (!child) return std::unexpected(child.error());
  return std::make_unique<LinuxGatedChild>(std::move(plan), std::move(*child));
}

Result<void> start_detached(Reaper& reaper, const Launch& launch) {
  if (const auto no = refused(launch.command, launch.environment)) return fail(no->text);
  const auto plan = plan_of(launch);
  CHECK(launch.group.empty());
  auto line = make_line();
  if (!line) return fail(cannot_start(*plan, system_says(line.error())).text);
  // Whoever ends our group must not end what was to outlive us.
  const std::string outside = folder_outside_groups();
  Fd group;
  if (!outside.empty()) group = Fd(::open(outside.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  int error = outside.empty() || group ? 0 : errno;
  if (error == 0) {
    // Between the two forks and the end of the first child, or its own child would come to us.
    const NoAdoption none(reaper);
    const SignalsHeld held;
    int descriptor = -1;
    const pid_t middle = fork_held(descriptor, group.get());
    error = errno;
    if (middle == 0) {
      const auto last = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
      if (last == 0) follow(*plan, line->theirs.get(), false);
      ::_exit(last < 0 ? errno : 0);
    }
    const Fd pidfd(descriptor);
    if (middle > 0) {
      is_over(pidfd.get(), std::chrono::milliseconds{std::numeric_limits<int>::max()});
      const auto exit = reap(pidfd.get());
      error = exit && exit->how == ExitStatus::How::code ? exit->value : ECHILD;
    }
  }
  if (error != 0) {
    const std::string where =
        outside.empty() ? "" : fmt::format("cannot leave our group for {}: ", in_quotes(outside));
    return fail(cannot_start(*plan, where + system_says(error)).text);
  }
  line->theirs.reset();
  const auto trouble = hear(line->ours.get());
  if (trouble) return fail(not_started(*plan, *trouble).text);
  return {};
}

Result<void> become_program(const Launch& launch) {
  if (const auto no = refused(launch.command, launch.environment)) return fail(no->text);
  const auto plan = plan_of(launch);
  ::close_range(STDERR_FILENO + 1, std::numeric_limits<unsigned>::max(), CLOSE_RANGE_CLOEXEC);
  return fail(not_started(*plan, plan->program.exec()).text);
}

}  // namespace tend
