// /proc, read with bounds. A process may vanish between any two calls here; that is no error.
#include "os/linux/linux_proc_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <ctime>
#include <memory>

#include "os/linux/fd.h"

namespace tend {
namespace {

constexpr std::size_t kLongestStat = 4096;
constexpr std::size_t kLongestEnvironment = std::size_t{1024} * 1024;
constexpr std::size_t kLongestWhole = std::size_t{16} * 1024 * 1024;

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view next_word(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

std::expected<std::string, int> read_all(int descriptor, std::size_t most) {
  std::string text;
  std::array<char, 16384> piece{};
  while (text.size() < most) {
    const std::size_t want = std::min(piece.size(), most - text.size());
    const ssize_t got = retried([&] { return ::read(descriptor, piece.data(), want); });
    if (got < 0) return std::unexpected(errno);
    if (got == 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::expected<std::string, int> read_at(int folder, const char* path, std::size_t most) {
  const Fd file(retried([&] { return ::openat(folder, path, O_RDONLY | O_CLOEXEC | O_NOCTTY); }));
  if (!file) return std::unexpected(errno);
  return read_all(file.get(), most);
}

double seconds(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// When the machine was started, by the calendar. Whoever reads two clocks may be held up between
// them: of a few looks the quickest is believed.
double boot_time() {
  constexpr int kLooks = 8;
  constexpr double kQuick = 1e-4;
  double quickest = 0, boot = 0;
  for (int look = 0; look < kLooks && (look == 0 || quickest > kQuick); ++look) {
    const double before = seconds(CLOCK_BOOTTIME);
    const double calendar = seconds(CLOCK_REALTIME);
    const double took = seconds(CLOCK_BOOTTIME) - before;
    if (look > 0 && took >= quickest) continue;
    quickest = took;
    boot = calendar - before - took / 2;
  }
  return boot;
}

std::uint64_t ticks_per_second() {
  static const auto ticks = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return ticks;
}

// In the middle of an exec a process has the memory of its new program and no environment in it
// yet: /proc shows an empty one, which is not the same as having none.
bool is_between_programs(int folder) {
  const auto line = read_at(folder, "stat", kLongestStat);
  const auto stat = line ? parse_stat(*line) : std::nullopt;
  return stat && !stat->is_zombie() && stat->has_memory && !stat->has_empty_environment;
}

// As the process had it at its last exec. A moment between two programs is waited out, for what
// is read here decides whether anything is left of what was started.
std::expected<std::string, int> read_environment_block(int folder, std::size_t most) {
  constexpr int kLooks = 200;
  constexpr timespec kBetween{.tv_sec = 0, .tv_nsec = 1'000'000};
  auto text = read_at(folder, "environ", most);
  for (int look = 1; look < kLooks && text && text->empty() && is_between_programs(folder);
       ++look) {
    ::nanosleep(&kBetween, nullptr);
    text = read_at(folder, "environ", most);
  }
  return text;
}

}  // namespace

std::optional<ProcStat> parse_stat(std::string_view line) {
  while (line.ends_with('\n')) line.remove_suffix(1);
  const std::size_t open = line.find(" (");
  const std::size_t close = line.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  constexpr int kPid = 1, kState = 3, kParent = 4, kJob = 5, kSession = 6, kUserTime = 14,
                kChildTime = 17, kThreads = 20, kStart = 22, kMemory = 23, kCode = 26,
                kEnvironmentStart = 50, kEnvironmentEnd = 51, kExit = 52;
  ProcStat stat;
  std::string_view code, environment_start;
  bool sound = true;
  const auto take = [&]<class Number>(std::string_view word, Number& into) {
    const auto value = number<Number>(word);
    sound = sound && value.has_value();
    into = value.value_or(Number{});
  };
  take(line.substr(0, open), stat.pid);
  std::string_view rest = line.substr(close + 2);
  for (int field = kPid + 2; field <= kExit; ++field) {
    const std::string_view word = next_word(rest);
    if (field == kState) {
      sound = sound && word.size() == 1;
      stat.state = word.empty() ? '?' : word.front();
    }
    if (field == kParent) take(word, stat.parent);
    if (field == kJob) take(word, stat.job);
    if (field == kSession) take(word, stat.session);
    if (field >= kUserTime && field <= kChildTime) {
      std::uint64_t ticks = 0;
      take(word, ticks);
      stat.cpu_ticks += ticks;
    }
    if (field == kThreads) take(word, stat.threads);
    if (field == kStart) take(word, stat.start_ticks);
    if (field == kMemory) stat.has_memory = word != "0";
    if (field == kCode) code = word;
    if (field == kEnvironmentStart) environment_start = word;
    if (field == kEnvironmentEnd) {  // the code is put in place last
      stat.has_empty_environment = code != "0" && word != "0" && word == environment_start;
    }
    if (field == kExit && !word.empty()) take(word, stat.wait_status);
  }
  if (!sound) return std::nullopt;
  return stat;
}

Result<std::optional<ProcStat>> read_stat(std::int64_t pid) {
  const std::string path = fmt::format("/proc/{}/stat", pid);
  const auto text = read_at(AT_FDCWD, path.c_str(), kLongestStat);
  if (!text) {
    if (text.error() == ENOENT || text.error() == ESRCH) return std::nullopt;
    return fail(fmt::format("cannot read {}: {}", path, system_says(text.error())));
  }
  if (text->empty()) return std::nullopt;
  const auto stat = parse_stat(*text);
  if (!stat) return fail(fmt::format("cannot understand {}", path));
  return stat;
}

bool may_see_exit(std::int64_t pid) {
  struct stat owner{};
  const std::string path = fmt::format("/proc/{}", pid);
  return ::stat(path.c_str(), &owner) == 0 && (::geteuid() == 0 || owner.st_uid == ::geteuid());
}

Result<Place> read_place() {
  const auto own = read_at(AT_FDCWD, "/proc/self/stat", kLongestStat);
  if (!own) return fail("cannot read /proc: " + system_says(own.error()));
  const auto stat = parse_stat(*own);
  if (!stat || stat->pid != ::getpid()) return fail("/proc shows another pid namespace than ours");
  struct stat ns{};
  if (::stat("/proc/self/ns/pid", &ns) != 0) {
    return fail("cannot read /proc/self/ns/pid: " + system_says(errno));
  }
  auto boot = read_at(AT_FDCWD, "/proc/sys/kernel/random/boot_id", 64);
  if (!boot) return fail("cannot read the boot id: " + system_says(boot.error()));
  while (boot->ends_with('\n')) boot->pop_back();
  if (boot->empty()) return fail("cannot read the boot id: it is empty");
  return Place{ns.st_ino, *boot};
}

Result<void> list_processes(const std::function<void(const Listed&)>& visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  if (!proc) return fail("cannot list /proc: " + system_says(errno));
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(proc.get());  // NOLINT(concurrency-mt-unsafe): a stream of ours
    if (entry == nullptr) break;
    if (!number<std::int64_t>(entry->d_name)) continue;
    const Fd folder(::openat(::dirfd(proc.get()), entry->d_name,
                             O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!folder) {
      if (errno == ENOENT || errno == ESRCH || errno == EACCES) continue;
      return fail(fmt::format("cannot read /proc/{}: {}", entry->d_name, system_says(errno)));
    }
    const auto text = read_at(folder.get(), "stat", kLongestStat);
    if (!text) {
      if (text.error() == ENOENT || text.error() == ESRCH || text.error() == EACCES) continue;
      return fail(
          fmt::format("cannot read /proc/{}: {}", entry->d_name, system_says(text.error())));
    }
    if (const auto stat = parse_stat(*text)) visit({*stat, folder.get()});
  }
  if (errno != 0) return fail("cannot list /proc: " + system_says(errno));
  return {};
}

std::optional<std::string> read_variable(const Listed& process, std::string_view variable) {
  struct stat owner{};
  if (::fstat(process.folder, &owner) != 0) return std::nullopt;
  if (::geteuid() != 0 && owner.st_uid != ::geteuid()) return std::nullopt;
  const auto environment = read_environment_block(process.folder, kLongestEnvironment);
  if (!environment) return std::nullopt;
  for (std::string_view rest = *environment; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    const std::string_view entry = rest.substr(0, end);
    if (entry.size() > variable.size() && entry.starts_with(variable) &&
        entry[variable.size()] == '=') {
      return std::string(entry.substr(variable.size() + 1));
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return std::nullopt;
}

std::optional<std::vector<std::string>> read_environment(std::int64_t pid) {
  const auto stat = read_stat(pid);
  if (!stat || !*stat || (*stat)->is_zombie()) return std::nullopt;
  const Fd folder(::open(fmt::format("/proc/{}", pid).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return std::nullopt;
  const auto text = read_environment_block(folder.get(), kLongestWhole);
  if (!text || text->size() == kLongestWhole) return std::nullopt;
  std::vector<std::string> environment;
  for (std::string_view rest = *text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    if (end > 0) environment.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return environment;
}

std::expected<std::string, int> read_file(const char* path, std::size_t most) {
  return read_at(AT_FDCWD, path, most);
}

std::uint64_t read_disk_bytes(std::int64_t pid) {
  constexpr std::size_t kMost = 4096;
  const auto text = read_file(fmt::format("/proc/{}/io", pid).c_str(), kMost);
  if (!text) return 0;
  std::uint64_t sum = 0;
  for (const std::string_view name : {"\nread_bytes: ", "\nwrite_bytes: "}) {
    const std::size_t at = text->find(name);
    if (at == std::string::npos) continue;
    const char* const digits = text->data() + at + name.size();
    std::uint64_t bytes = 0;
    std::from_chars(digits, text->data() + text->size(), bytes);
    sum += bytes;
  }
  return sum;
}

Duration as_duration(std::uint64_t ticks) {
  return Duration{static_cast<std::int64_t>(ticks * 1000 / ticks_per_second())};
}

double calendar_time(std::uint64_t start_ticks) {
  return boot_time() + static_cast<double>(start_ticks) / static_cast<double>(ticks_per_second());
}

}  // namespace tend
