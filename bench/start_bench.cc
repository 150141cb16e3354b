// What it costs to start: `tend --version` as a new process against a minimal C++ program of the
// same linkage in the same run. The ratio is what counts; the times are the machine's.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

namespace {

/// Runs a program with one argument, its output thrown away, and waits for its end.
bool run(const std::string& path, const char* argument) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  std::string program = path;
  std::string first = argument;
  std::array<char*, 3> arguments{program.data(), first.data(), nullptr};
  std::array<char*, 1> environment{nullptr};
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, path.c_str(), &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return false;
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0;
}

void start(benchmark::State& state, const std::string& path) {
  for (auto _ : state) {
    if (!run(path, "--version")) {
      state.SkipWithError((path + " did not run").c_str());
      return;
    }
  }
}

void minimal_program(benchmark::State& state) { start(state, TEND_BINARY_DIR "/bench/minimal"); }
void tend_version(benchmark::State& state) { start(state, TEND_BINARY_DIR "/tend"); }

BENCHMARK(minimal_program)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(tend_version)->Unit(benchmark::kMicrosecond)->UseRealTime();

}  // namespace
