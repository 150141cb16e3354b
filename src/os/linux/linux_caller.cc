// Plain system calls on small buffers: this runs at every tool call of every session.
#include "os/linux/linux_caller.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <optional>
#include <string_view>

#include "os/linux/fd.h"
#include "os/linux/linux_proc_files.h"

namespace tend {
namespace {

constexpr std::size_t kPiece = std::size_t{64} * 1024;  // what a pipe holds

Duration now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::chrono::seconds{time.tv_sec} + Duration{time.tv_nsec / 1'000'000};
}

/// False if there will be nothing to read before `deadline`.
bool await_input(Duration deadline) {
  while (true) {
    const Duration left = deadline - now();
    if (left <= Duration::zero()) return false;
    pollfd readable{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&readable, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

std::optional<ProcStat> stat_of(std::int64_t pid, std::string& name) {
  std::array<char, 1024> text{};
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const Fd file(retried([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (!file) return std::nullopt;
  const ssize_t got = retried([&] { return ::read(file.get(), text.data(), text.size()); });
  if (got <= 0) return std::nullopt;
  const std::string_view line(text.data(), static_cast<std::size_t>(got));
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (open == line.npos || close == line.npos || close < open) return std::nullopt;
  name = line.substr(open + 1, close - open - 1);
  return parse_stat(line);
}

}  // namespace

Result<std::string> LinuxCaller::input(std::size_t most, Duration patience) {
  const Duration deadline = now() + patience;
  std::string text;
  bool too_much = false;
  while (await_input(deadline)) {
    const std::size_t size = too_much ? 0 : text.size();
    text.resize(size + kPiece);
    const ssize_t got =
        retried([&] { return ::read(STDIN_FILENO, text.data() + size, text.size() - size); });
    const bool again = got < 0 && errno == EAGAIN;
    text.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got <= 0 && !again) break;
    too_much = too_much || text.size() > most;
  }
  if (too_much) return fail("standard input is more than " + std::to_string(most) + " bytes");
  return text;
}

std::vector<Ancestor> LinuxCaller::ancestors(std::size_t most) const {
  std::vector<Ancestor> found;
  std::int64_t pid = ::getppid();
  while (pid > 0 && found.size() < most) {
    Ancestor ancestor{.pid = pid};
    const auto stat = stat_of(pid, ancestor.name);
    if (!stat) break;
    ancestor.start_ticks = stat->start_ticks;
    found.push_back(std::move(ancestor));
    pid = stat->parent;
  }
  return found;
}

std::string LinuxCaller::user() const {
  const uid_t id = ::geteuid();
  std::array<char, 16'384> text{};
  passwd entry{};
  passwd* found = nullptr;
  const bool is_known = ::getpwuid_r(id, &entry, text.data(), text.size(), &found) == 0 &&
                        found != nullptr && *found->pw_name != '\0';
  return is_known ? found->pw_name : "uid " + std::to_string(id);
}

}  // namespace tend
