// System calls on pidfds by their numbers, because the C library's header for them is not fit for
// C++, and the one ioctl that the kernel's headers do not know yet.
#include "os/linux/linux_pidfd.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <limits>

namespace tend {
namespace {

/// struct pidfd_info of the kernel, its first version.
struct PidfdInfo {
  std::uint64_t mask = 0;
  std::uint64_t cgroup = 0;
  std::array<std::uint32_t, 11> ids{};
  std::int32_t exit_code = 0;
};
static_assert(sizeof(PidfdInfo) == 64);

constexpr std::uint64_t kExitAsked = std::uint64_t{1} << 3;
constexpr unsigned long kGetInfo = _IOWR(0xFF, 11, PidfdInfo);

}  // namespace

std::expected<Fd, int> open_pidfd(std::int64_t pid) {
  if (pid <= 0 || pid > std::numeric_limits<pid_t>::max()) return std::unexpected(ESRCH);
  Fd opened(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)));
  if (!opened) return std::unexpected(errno);
  return opened;
}

bool is_over(int pidfd, Duration wait) {
  pollfd watched{pidfd, POLLIN, 0};
  const auto most = static_cast<int>(wait.count());
  return retried([&] { return ::poll(&watched, 1, most); }) > 0 &&
         (watched.revents & (POLLIN | POLLHUP)) != 0;
}

int send_signal(int pidfd, int signal) {
  return ::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0) == 0 ? 0 : errno;
}

std::optional<ExitStatus> reap(int pidfd) {
  siginfo_t info{};
  const int waited = retried(
      [&] { return ::waitid(P_PIDFD, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG); });
  if (waited != 0 || info.si_pid == 0) return std::nullopt;
  return exit_status(info.si_code, info.si_status);
}

std::optional<ExitStatus> exit_of_reaped(int pidfd) {
  PidfdInfo info{.mask = kExitAsked};
  if (::ioctl(pidfd, kGetInfo, &info) != 0 || (info.mask & kExitAsked) == 0) return std::nullopt;
  return exit_status(info.exit_code);
}

ExitStatus exit_status(int wait_status) {
  if (WIFEXITED(wait_status)) return {ExitStatus::How::code, WEXITSTATUS(wait_status)};
  if (WIFSIGNALED(wait_status)) return {ExitStatus::How::signal, WTERMSIG(wait_status)};
  return {};
}

ExitStatus exit_status(int code, int status) {
  if (code == CLD_EXITED) return {ExitStatus::How::code, status};
  if (code == CLD_KILLED || code == CLD_DUMPED) return {ExitStatus::How::signal, status};
  return {};
}

}  // namespace tend
