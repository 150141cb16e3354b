// What the benchmarks of the keeper share: programs that are started, a home of their own that is
// emptied at the end, what /proc says of a process, and a table of ratios.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace tend::bench {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

inline const std::string kTend = TEND_BINARY_DIR "/tend";
inline const std::string kRawKeeper = TEND_BINARY_DIR "/bench/raw_keeper";
inline const std::string kSpeaker = TEND_BINARY_DIR "/bench/speaker";

[[noreturn]] inline void give_up(const std::string& why) {
  std::fprintf(stderr, "bench: %s\n", why.c_str());
  std::exit(1);
}

inline double seconds_since(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

inline double quantile(std::vector<double> values, double part) {
  if (values.empty()) give_up("nothing was measured");
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

/// Starts a program, its output thrown away, and returns its number.
inline pid_t start(const std::vector<std::string>& command) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t child = 0;
  const int failed =
      ::posix_spawn(&child, words[0], &actions, nullptr, words.data(), environ);  // NOLINT
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) give_up(command[0] + " cannot be started; `make bench` builds it");
  return child;
}

inline void run(const std::vector<std::string>& command) {
  int status = 0;
  if (::waitpid(start(command), &status, 0) < 0 || status != 0) give_up(command[0] + " failed");
}

/// The number behind "NAME:" or "\"NAME\":" in a text; 0 if there is none.
inline double number_after(const std::string& text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string::npos) return 0;
  return std::strtod(text.c_str() + at + name.size(), nullptr);
}

inline std::string read_all(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// --- What /proc says ----------------------------------------------------------------------------

struct Memory {
  double dirty = 0;  // MB that were written to: nobody else can use them
  double alone = 0;  // MB that no other process has, pages of the program included
  double seen = 0;   // MB as `ps` counts them: all that is mapped right now, whoever shares it
};

inline Memory memory_of(pid_t pid) {
  const std::string text = read_all(fs::path("/proc") / std::to_string(pid) / "smaps_rollup");
  const double dirty = number_after(text, "Private_Dirty:") / 1024;
  return {.dirty = dirty,
          .alone = dirty + number_after(text, "Private_Clean:") / 1024,
          .seen = number_after(text, "Rss:") / 1024};
}

/// How often it went to sleep by itself, which is how often it woke up.
inline double sleeps_of(pid_t pid) {
  return number_after(read_all(fs::path("/proc") / std::to_string(pid) / "status"),
                      "\nvoluntary_ctxt_switches:");
}

/// Seconds of processor time.
inline double cpu_of(pid_t pid) {
  const std::string text = read_all(fs::path("/proc") / std::to_string(pid) / "schedstat");
  return std::strtod(text.c_str(), nullptr) / 1e9;
}

// --- A home -------------------------------------------------------------------------------------

/// A home in a temporary folder. At the end its keepers are told to stop, by their numbers, and
/// the folder is removed.
class BenchHome {
 public:
  BenchHome() {
    std::string pattern = "/tmp/tend-bench-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) give_up("no temporary folder");
    path_ = pattern;
    ::setenv("TEND_HOME", (path_ / "home").c_str(), 1);
    ::setenv("XDG_RUNTIME_DIR", path_.c_str(), 1);
    for (const char* mark : {"TEND_INFRA", "TEND_LIFE", "TEND_AGENT"}) ::unsetenv(mark);
  }
  ~BenchHome() {
    // A few at a time: each of them looks at every process of the machine before it goes.
    constexpr std::size_t kTogether = 8;
    std::vector<pid_t> all = keepers();
    while (!all.empty()) {
      const std::size_t kept = all.size() - std::min(all.size(), kTogether);
      const std::vector<pid_t> some(all.begin() + static_cast<std::ptrdiff_t>(kept), all.end());
      all.resize(kept);
      for (const pid_t keeper : some) ::kill(keeper, SIGTERM);
      const auto until = Clock::now() + 60s;
      const auto is_there = [](pid_t keeper) { return ::kill(keeper, 0) == 0; };
      while (std::ranges::any_of(some, is_there) && Clock::now() < until) {
        std::this_thread::sleep_for(5ms);
      }
    }
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  BenchHome(const BenchHome&) = delete;
  BenchHome& operator=(const BenchHome&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }

  /// The folders of all agents, in the order of their names.
  [[nodiscard]] std::vector<fs::path> agents() const {
    std::vector<fs::path> all;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(path_ / "home" / "sessions", none)) {
      all.push_back(entry.path());
    }
    std::ranges::sort(all);
    return all;
  }
  [[nodiscard]] static pid_t keeper_of(const fs::path& agent) {
    return static_cast<pid_t>(number_after(read_all(agent / ".heartbeat"), "\"keeper_pid\":"));
  }
  [[nodiscard]] std::vector<pid_t> keepers() const {
    std::vector<pid_t> all;
    for (const fs::path& agent : agents()) {
      if (const pid_t keeper = keeper_of(agent); keeper > 1) all.push_back(keeper);
    }
    return all;
  }

 private:
  fs::path path_;
};

// --- The table ----------------------------------------------------------------------------------

inline void table_head() {
  std::printf("%-42s %12s %12s %8s %10s\n", "what", "tend", "raw limit", "ratio", "goal");
}

/// One line. `goal` is written as it is: the reader compares, the program does not.
inline void row(std::string_view what, double ours, double raw, const char* unit,
                std::string_view goal) {
  const auto quantity = [unit](double value) {
    char text[32];  // NOLINT
    std::snprintf(text, sizeof text, value < 10 ? "%.2f %s" : "%.0f %s", value, unit);
    return std::string(text);
  };
  char ratio[16] = "";  // NOLINT
  if (raw > 0) std::snprintf(ratio, sizeof ratio, "%.2f", ours / raw);
  std::printf("%-42.*s %12s %12s %8s %10.*s\n", static_cast<int>(what.size()), what.data(),
              quantity(ours).c_str(), quantity(raw).c_str(), ratio, static_cast<int>(goal.size()),
              goal.data());
  std::fflush(stdout);
}

}  // namespace tend::bench
