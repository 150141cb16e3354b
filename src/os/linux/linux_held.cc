// How a held process is: from its pidfd whether it is over, from /proc the rest. What cannot be
// seen is unknown, never gone.
#include "os/linux/linux_held.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "base/check.h"
#include "os/linux/linux_clock.h"
#include "os/linux/linux_pidfd.h"

namespace tend {
namespace {

using std::chrono::seconds;

int signal_of(Kill kill) {
  switch (kill) {
    case Kill::interrupt:
      return SIGINT;
    case Kill::terminate:
      return SIGTERM;
    case Kill::kill:
      return SIGKILL;
    case Kill::cont:
      return SIGCONT;
    case Kill::stop:
      return SIGSTOP;
    case Kill::look:
      return SIGUSR1;
    case Kill::hang_up:
      return SIGHUP;
  }
  CHECK(false);
}

Condition unknown(std::string problem) { return {RunState::unknown, {}, std::move(problem)}; }

/// Waits for nothing: what is asked of a process that cannot be held.
class Never final : public Subscription {};

/// Hears once of a process's end: from the loop, or where that cannot watch it by looking each
/// second.
class ExitWatch final : public Subscription {
 public:
  ExitWatch(LinuxLoop& loop, std::shared_ptr<const Fd> pidfd, Callback callback)
      : loop_(loop),
        pidfd_(std::move(pidfd)),
        own_(::fcntl(pidfd_->get(), F_DUPFD_CLOEXEC, 3)),  // a descriptor can be watched but once
        callback_(std::move(callback)) {
    if (own_) waiting_ = loop_.when_readable(own_.get(), [this] { over(); });
    if (!waiting_) look_again();
  }

 private:
  void look_again() {
    waiting_ = loop_.at(LinuxClock{}.now() + seconds{1}, [this] {
      if (is_over(pidfd_->get())) return over();
      look_again();
    });
  }

  void over() {
    const Callback callback = std::move(callback_);
    waiting_.reset();
    callback();  // may destroy this
  }

  LinuxLoop& loop_;
  std::shared_ptr<const Fd> pidfd_;
  Fd own_;
  Callback callback_;
  Subscribed waiting_;
};

}  // namespace

LinuxProcess::LinuxProcess(LinuxLoop& loop, Reaper& reaper, const Result<Place>& place,
                           const ProcessId& id)
    : loop_(loop), held_(reaper, id), settled_(misplaced(place)) {
  if (!settled_) hold();
}

LinuxProcess::LinuxProcess(LinuxLoop& loop, Reaper& reaper, const ProcessId& id, Fd pidfd)
    : loop_(loop), held_(reaper, id), pidfd_(std::make_shared<const Fd>(std::move(pidfd))) {}

std::optional<Condition> LinuxProcess::misplaced(const Result<Place>& place) const {
  if (!place) return unknown(place.error().text);
  if (id().pid <= 0) return unknown("it has no pid");
  if (id().boot_id.empty()) return unknown("it is not known in which boot it was started");
  if (id().boot_id != place->boot_id) return Condition{RunState::gone, {}, {}};
  if (id().pid_ns != place->pid_ns) return unknown("it is in another pid namespace");
  return std::nullopt;
}

void LinuxProcess::hold() {
  auto pidfd = open_pidfd(id().pid);
  if (!pidfd) {
    if (pidfd.error() == ESRCH) {
      settle(RunState::gone);
    } else if (pidfd.error() == ENOENT || pidfd.error() == EINVAL) {
      settle(RunState::reused);
    } else {
      problem_ = fmt::format("cannot hold process {}: {}", id().pid, system_says(pidfd.error()));
    }
    return;
  }
  // Read after the pidfd was taken: if the start time fits now, it fitted then.
  const auto stat = read_stat(id().pid);
  if (!stat) {
    problem_ = stat.error().text;
  } else if (!*stat) {
    if (send_signal(pidfd->get(), 0) == ESRCH) {
      settle(RunState::gone);
    } else {
      problem_ = fmt::format("process {} is hidden in /proc", id().pid);
    }
  } else if ((*stat)->start_ticks != id().start_ticks) {
    settle(RunState::reused);
  } else {
    pidfd_ = std::make_shared<const Fd>(std::move(*pidfd));
  }
}

Condition LinuxProcess::look() {
  if (!settled_ && !pidfd_) hold();
  if (settled_) return *settled_;
  if (!pidfd_) return unknown(problem_);
  if (held_.exit()) return settle(RunState::gone, *held_.exit());
  if (!is_over(pidfd_->get())) {
    if (auto condition = look_alive()) return *condition;
  }
  return look_over();
}

std::optional<Condition> LinuxProcess::look_alive() {
  const auto stat = read_stat(id().pid);
  if (!stat) return unknown(stat.error().text);
  if (!*stat || (*stat)->start_ticks != id().start_ticks) {
    if (is_over(pidfd_->get())) return std::nullopt;  // it ended just now
    return unknown(fmt::format("process {} is hidden in /proc", id().pid));
  }
  if ((*stat)->is_zombie()) return std::nullopt;
  return Condition{(*stat)->state == 'T' ? RunState::stopped : RunState::running, {}, {}};
}

Condition LinuxProcess::look_over() {
  if (const auto exit = reap(pidfd_->get())) return settle(RunState::gone, *exit);
  const auto stat = read_stat(id().pid);
  if (stat && *stat && (*stat)->start_ticks == id().start_ticks && (*stat)->is_zombie()) {
    if (may_see_exit(id().pid)) as_zombie_ = exit_status((*stat)->wait_status);
    return {RunState::zombie, as_zombie_, {}};
  }
  if (const auto exit = exit_of_reaped(pidfd_->get())) return settle(RunState::gone, *exit);
  if (!stat) return unknown(stat.error().text);
  if (send_signal(pidfd_->get(), 0) == ESRCH) return settle(RunState::gone, as_zombie_);
  return {RunState::zombie, {}, {}};  // hidden in /proc, and not reaped
}

Condition LinuxProcess::settle(RunState state, ExitStatus exit) {
  settled_ = Condition{state, exit, {}};
  return *settled_;
}

Subscribed LinuxProcess::on_exit(Callback callback) {
  if (!settled_ && !pidfd_) hold();
  if (pidfd_) return std::make_unique<ExitWatch>(loop_, pidfd_, std::move(callback));
  if (settled_ && settled_->state != RunState::unknown) return loop_.post(std::move(callback));
  return std::make_unique<Never>();
}

Result<void> LinuxProcess::signal(Kill kill) {
  const Condition condition = pidfd_ && !settled_ ? Condition{} : look();
  if (condition.state == RunState::gone || condition.state == RunState::reused) {
    return fail(fmt::format("process {} is gone", id().pid));
  }
  if (!pidfd_) return fail(condition.problem);
  const int error = send_signal(pidfd_->get(), signal_of(kill));
  if (error == 0) return {};
  if (error == ESRCH) return fail(fmt::format("process {} is gone", id().pid));
  return fail(fmt::format("cannot signal process {}: {}", id().pid, system_says(error)));
}

void LinuxProcess::finish_off() {
  if (settled_ || !pidfd_) return;
  send_signal(pidfd_->get(), SIGKILL);
  is_over(pidfd_->get(), seconds{1});
  look();
}

}  // namespace tend
