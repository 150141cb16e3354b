// The child's side of a start, and the words for what went wrong there. All from follow() down to
// the exec is async-signal-safe.
#include "os/linux/linux_start.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <limits>
#include <string_view>

#include "base/check.h"
#include "base/quote.h"

namespace tend {
namespace {

constexpr int kNotFound = 127;
constexpr int kNotRunnable = 126;
constexpr int kFirstFree = 3;  // after the standard descriptors

std::string_view search_path(const std::vector<std::string>& environment) {
  constexpr std::string_view kName = "PATH=";
  for (const std::string& entry : environment) {
    if (entry.starts_with(kName)) return std::string_view(entry).substr(kName.size());
  }
  return "/usr/local/bin:/usr/bin:/bin";
}

std::vector<std::string> places_of(const std::string& program, std::string_view path) {
  if (program.find('/') != std::string::npos) return {program};
  std::vector<std::string> places;
  for (bool more = !program.empty(); more;) {
    const std::size_t end = path.find(':');
    const std::string_view folder = path.substr(0, end);
    places.push_back(fmt::format("{}/{}", folder.empty() ? "." : folder, program));
    more = end != std::string_view::npos;
    if (more) path.remove_prefix(end + 1);
  }
  return places;
}

/// For execve, which takes what it does not change as if it did.
std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (const std::string& text : texts) {
    all.push_back(
        const_cast<char*>(text.c_str()));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  }
  all.push_back(nullptr);
  return all;
}

[[noreturn]] void leave(int line, Trouble trouble) {
  ::send(line, &trouble, sizeof trouble, MSG_NOSIGNAL);
  ::_exit(trouble.step == Step::exec && trouble.error == ENOENT ? kNotFound : kNotRunnable);
}

bool place(int descriptor, int at) {
  if (descriptor < 0) return false;
  if (descriptor == at) return ::fcntl(at, F_SETFD, 0) == 0;
  const bool placed = retried([&] { return ::dup2(descriptor, at); }) == at;
  const int kept = errno;
  ::close(descriptor);
  errno = kept;
  return placed;
}

bool place_file(const char* path, int flags, int at) {
  constexpr mode_t kPrivate = 0600;
  constexpr int kAlways = O_CLOEXEC | O_NOCTTY | O_NOFOLLOW;
  return place(retried([&] { return ::open(path, flags | kAlways, kPrivate); }), at);
}

bool place_stream(const Stream& stream, int flags, int at) {
  if (stream.descriptor >= 0) return retried([&] { return ::dup2(stream.descriptor, at); }) == at;
  return stream.path.empty() || place_file(stream.path.c_str(), flags, at);
}

/// The C library refuses to touch the two signals it uses itself, though whoever started us may
/// ignore them: the kernel is asked instead. All zero is SIG_DFL in its struct on every machine.
void reset_signals() {
  constexpr std::array<unsigned long, 8> kUsual{};
  constexpr std::size_t kMaskSize = NSIG / 8;
  for (int signal = 1; signal < NSIG; ++signal) {
    ::syscall(SYS_rt_sigaction, signal, kUsual.data(), nullptr, kMaskSize);
  }
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

/// Closes all that is ours, the gates of other children too, and keeps only the line.
int close_all_but(int line, const Plan& plan) {
  int kept = kFirstFree;
  for (const auto& [number, path] : plan.extra) kept = std::max(kept, number + 1);
  if (line != kept) line = retried([&] { return ::dup3(line, kept, O_CLOEXEC); });
  if (line < 0) return -1;
  if (kept > kFirstFree) ::close_range(kFirstFree, static_cast<unsigned>(kept) - 1, 0);
  ::close_range(static_cast<unsigned>(kept) + 1, std::numeric_limits<unsigned>::max(), 0);
  return line;
}

/// Whoever finds the place unsigned is no worse off than without it: a failure is not said.
void sign(const std::pair<std::string, std::uint64_t>& where) {
  const char* const path = where.first.c_str();
  const auto offset = static_cast<off_t>(where.second);
  if (where.first.empty()) return;
  const int file = retried([&] { return ::open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC); });
  if (file < 0) return;
  retried([&] { return ::pwrite(file, &kSigned, 1, offset); });
  ::close(file);
}

}  // namespace

Program::Program(std::vector<std::string> command, std::vector<std::string> environment)
    : command_(std::move(command)), environment_(std::move(environment)) {
  CHECK(!command_.empty());
  candidates_ = places_of(command_.front(), search_path(environment_));
  arguments_ = pointers(command_);
  variables_ = pointers(environment_);
  as_script_ = arguments_;
  static char shell[] = "/bin/sh";
  as_script_.insert(as_script_.begin(), shell);
}

Trouble Program::exec() {
  Trouble trouble{Step::exec, ENOENT};
  for (std::string& candidate : candidates_) {
    ::execve(candidate.c_str(), arguments_.data(), variables_.data());
    if (errno == ENOEXEC) {
      as_script_[1] = candidate.data();
      ::execve(as_script_[0], as_script_.data(), variables_.data());
      return {Step::exec, ENOEXEC};
    }
    const int error = errno;
    const bool is_there = ::access(candidate.c_str(), F_OK) == 0;
    if (error == ENOENT && is_there) return {Step::interpreter, error};
    // As a shell does: look on, and say this in the end. A folder that is closed to us is no find.
    if (error == EACCES && (is_there || candidates_.size() == 1)) trouble.error = EACCES;
    if (error != ENOENT && error != ENOTDIR && error != EACCES) return {Step::exec, error};
  }
  return trouble;
}

std::optional<NotStarted> refused(const std::vector<std::string>& command,
                                  const std::vector<std::string>& environment) {
  if (command.empty()) return NotStarted{kNotFound, "there is no command to run"};
  const auto is_cut = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  if (std::ranges::any_of(command, is_cut) || std::ranges::any_of(environment, is_cut)) {
    return NotStarted{kNotRunnable, fmt::format("cannot run {}: a NUL byte in its arguments or "
                                                "environment",
                                                in_quotes(command.front()))};
  }
  return std::nullopt;
}

std::expected<Line, int> make_line() {
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return std::unexpected(errno);
  }
  Line line{Fd(ends[0]), Fd(ends[1])};
  line.ours = above_standard(std::move(line.ours));
  line.theirs = above_standard(std::move(line.theirs));
  if (!line.ours || !line.theirs) return std::unexpected(errno);
  return line;
}

void follow(Plan& plan, int line, bool gated) {
  if (::setsid() < 0 && ::getsid(0) != ::getpid()) leave(line, {Step::session, errno});
  reset_signals();
  constexpr int kAppend = O_WRONLY | O_APPEND | O_CREAT;
  if (!place_stream(plan.input, plan.input_flags, STDIN_FILENO)) leave(line, {Step::input, errno});
  if (!place_stream(plan.output, kAppend, STDOUT_FILENO)) leave(line, {Step::output, errno});
  if (!place_stream(plan.error, kAppend, STDERR_FILENO)) leave(line, {Step::error, errno});
  const int kept = close_all_but(line, plan);
  if (kept < 0) leave(line, {Step::extra, errno});
  for (const auto& [number, path] : plan.extra) {
    if (!place_file(path.c_str(), O_RDWR, number)) leave(kept, {Step::extra, errno});
  }
  if (!plan.working_folder.empty() && ::chdir(plan.working_folder.c_str()) != 0) {
    leave(kept, {Step::folder, errno});
  }
  char byte = 0;
  if (gated && retried([&] { return ::recv(kept, &byte, 1, 0); }) != 1) ::_exit(0);
  sign(plan.sign);
  leave(kept, plan.program.exec());
}

void open_gate(int line) {
  const char byte = 1;
  retried([&] { return ::send(line, &byte, 1, MSG_NOSIGNAL); });
}

std::optional<Trouble> hear(int line) {
  constexpr int kPatienceMs = 10'000;
  pollfd readable{line, POLLIN, 0};
  if (retried([&] { return ::poll(&readable, 1, kPatienceMs); }) <= 0) return std::nullopt;
  Trouble trouble;
  const ssize_t got = retried([&] { return ::recv(line, &trouble, sizeof trouble, 0); });
  if (got != static_cast<ssize_t>(sizeof trouble)) return std::nullopt;
  return trouble;
}

NotStarted not_started(const Plan& plan, const Trouble& trouble) {
  const std::string& name = plan.program.name();
  const std::string cause = system_says(trouble.error);
  const auto because = [&](const std::string& why) {
    return NotStarted{kNotRunnable, fmt::format("cannot run {}: {}", in_quotes(name), why)};
  };
  const auto file = [&](std::string_view what, const std::string& path) {
    return because(fmt::format("cannot open its {} {}: {}", what, in_quotes(path), cause));
  };
  switch (trouble.step) {
    case Step::session:
      return because("no session of its own: " + cause);
    case Step::input:
      return file("input", plan.input.path);
    case Step::output:
      return file("output", plan.output.path);
    case Step::error:
      return file("error output", plan.error.path);
    case Step::extra:
      return file("file", plan.extra.size() == 1 ? plan.extra.front().second : "");
    case Step::folder:
      return because(fmt::format("cannot enter {}: {}", in_quotes(plan.working_folder), cause));
    case Step::interpreter:
      return because("the interpreter it names is missing");
    case Step::exec:
      break;
  }
  if (trouble.error != ENOENT) return because(cause);
  NotStarted missing = because(name.find('/') == std::string::npos ? "not found in PATH" : cause);
  missing.exit_code = kNotFound;
  return missing;
}

Fd above_standard(Fd descriptor) {
  if (!descriptor || descriptor.get() >= kFirstFree) return descriptor;
  return Fd(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, kFirstFree));
}

}  // namespace tend
