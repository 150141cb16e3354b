// What a beat costs. From inside a program: tend_beat() against the bare system call on a file that
// is held open. From a hook: `tend beat` as a new process against a minimal C++ program. The ratios
// are what counts, and each comes from pairs that were measured in turn; the times are the
// machine's.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "client/tend.h"

namespace {

namespace fs = std::filesystem;

/// An agent's folder as its keeper makes it, in its environment.
class AgentFolder {
 public:
  AgentFolder() {
    std::string pattern = (fs::temp_directory_path() / "tend_beat_bench_XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
    write(".beat", "");
    write(".lock", R"({"life":1})" + std::string(1013, ' ') + "\n");
    write(".heartbeat", R"({"pid":1,"status":"running","life":1,"agent":"coder-x7"})");
    ::setenv("TEND_INFRA", path_.c_str(), 1);
    ::setenv("TEND_LIFE", "1", 1);
    ::setenv("TEND_AGENT", "coder-x7", 1);
  }
  ~AgentFolder() { fs::remove_all(path_); }
  AgentFolder(const AgentFolder&) = delete;
  AgentFolder& operator=(const AgentFolder&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    fs::permissions(path_ / name, fs::perms::owner_read | fs::perms::owner_write);
  }

  fs::path path_;
};

void raw_limit_futimens(benchmark::State& state) {
  const AgentFolder folder;
  const int beat = ::open((folder.path() / ".beat").c_str(), O_RDONLY | O_CLOEXEC);
  for (auto _ : state) benchmark::DoNotOptimize(::futimens(beat, nullptr));
  ::close(beat);
}
BENCHMARK(raw_limit_futimens);

void tend_beat_in_a_program(benchmark::State& state) {
  const AgentFolder folder;
  tend_client* const client = tend_open();
  for (auto _ : state) {
    if (tend_beat(client) != 0) return state.SkipWithError(tend_why(client));
  }
  tend_close(client);
}
BENCHMARK(tend_beat_in_a_program);

/// Runs a program with the word "beat", its output thrown away, and waits for its end.
bool run(const std::string& path) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  std::string program = path;
  std::string word = "beat";
  std::array<char*, 3> arguments{program.data(), word.data(), nullptr};
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, path.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return false;
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0;
}

const std::string kMinimal = TEND_BINARY_DIR "/bench/minimal";
const std::string kTend = TEND_BINARY_DIR "/tend";

void start(benchmark::State& state, const std::string& path) {
  const AgentFolder folder;
  for (auto _ : state) {
    if (!run(path)) return state.SkipWithError((path + " did not run").c_str());
  }
}
void minimal_program(benchmark::State& state) { start(state, kMinimal); }
void tend_beat_by_a_hook(benchmark::State& state) { start(state, kTend); }
BENCHMARK(minimal_program)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(tend_beat_by_a_hook)->Unit(benchmark::kMicrosecond)->UseRealTime();

// --- Ratios
// ---------------------------------------------------------------------------------------

using Seconds = std::chrono::duration<double>;

template <class Work>
double timed(Work work) {
  const auto from = std::chrono::steady_clock::now();
  work();
  return Seconds(std::chrono::steady_clock::now() - from).count();
}

double tenth(std::vector<double> times) {
  std::ranges::sort(times);
  return times[times.size() / 10];
}

/// Measures both in turn, so that the load of the machine hits both, and compares what each takes
/// when it is left alone: the time that a tenth of the rounds stayed below.
template <class Ours, class Bare>
void compare(benchmark::State& state, Ours ours, Bare bare) {
  std::vector<double> our_times;
  std::vector<double> bare_times;
  for (auto _ : state) {
    our_times.push_back(timed(ours));
    bare_times.push_back(timed(bare));
  }
  state.counters["ratio"] = tenth(our_times) / tenth(bare_times);
}

void ratio_of_a_beat_in_a_program(benchmark::State& state) {
  const AgentFolder folder;
  tend_client* const client = tend_open();
  const int beat = ::open((folder.path() / ".beat").c_str(), O_RDONLY | O_CLOEXEC);
  constexpr int kBeats = 1000;
  bool well = true;
  compare(
      state,
      [&] {
        for (int i = 0; i < kBeats; ++i) well = tend_beat(client) == 0 && well;
      },
      [&] {
        for (int i = 0; i < kBeats; ++i) well = ::futimens(beat, nullptr) == 0 && well;
      });
  ::close(beat);
  tend_close(client);
  if (!well) state.SkipWithError("a beat failed");
}
BENCHMARK(ratio_of_a_beat_in_a_program)->Iterations(500)->Unit(benchmark::kMicrosecond);

void ratio_of_a_beat_by_a_hook(benchmark::State& state) {
  const AgentFolder folder;
  bool well = true;
  compare(state, [&] { well = run(kTend) && well; }, [&] { well = run(kMinimal) && well; });
  if (!well) state.SkipWithError("a program did not run");
}
BENCHMARK(ratio_of_a_beat_by_a_hook)
    ->Iterations(1000)
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();

}  // namespace
