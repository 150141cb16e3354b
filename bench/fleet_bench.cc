// Many keepers at once: how long they take to start, what they hold, and what they do while nothing
// happens; beside as many of the least that a keeper can be (raw_keeper). 100 of each, or
// BENCH_FLEET of them; `make bench BENCH_BIG=1` takes 1,000. Rest is measured for a minute.
#include "kept.h"

namespace tend::bench {
namespace {

constexpr auto kSettle = 35s;  // the first beat of all is over, and so are the looks of a beginning
constexpr auto kRest = 60s;
constexpr double kHour = 3600;

/// Of all keepers of a kind together.
struct Sum {
  double cpu = 0;
  double wakes = 0;
  Memory memory;
};

Sum sum_of(const std::vector<pid_t>& keepers) {
  Sum sum;
  for (const pid_t keeper : keepers) {
    sum.cpu += cpu_of(keeper);
    sum.wakes += sleeps_of(keeper);
    const Memory memory = memory_of(keeper);
    sum.memory.dirty += memory.dirty;
    sum.memory.alone += memory.alone;
  }
  return sum;
}

std::size_t fleet_size() {
  const char* const wanted = std::getenv("BENCH_FLEET");
  const int size = wanted != nullptr ? std::atoi(wanted) : 100;
  if (size < 1 || size > 10'000) give_up("BENCH_FLEET is a number from 1 to 10000");
  return static_cast<std::size_t>(size);
}

/// One after the other, each until its program runs.
std::vector<pid_t> start_raw(const BenchHome& home, std::size_t count) {
  std::vector<pid_t> keepers;
  for (std::size_t i = 0; i < count; ++i) {
    const fs::path folder = home.path() / ("raw" + std::to_string(i));
    fs::create_directory(folder);
    keepers.push_back(start({kRawKeeper, folder, "/bin/sleep", "100000"}));
    const fs::path children = fs::path("/proc") / std::to_string(keepers.back()) / "task" /
                              std::to_string(keepers.back()) / "children";
    while (read_all(children).empty()) std::this_thread::sleep_for(100us);
  }
  return keepers;
}

void compare() {
  const std::size_t count = fleet_size();
  const auto each = static_cast<double>(count);
  const BenchHome home;
  std::printf("%zu keepers of each kind, each with a `sleep`; this takes %zu minutes\n", count,
              2 + count / 500);
  auto from = Clock::now();
  const std::vector<pid_t> raw = start_raw(home, count);
  const double raw_start = seconds_since(from);
  from = Clock::now();
  for (std::size_t i = 0; i < count; ++i) {
    run({kTend, "run", "--detach", "--worktree", "none", "--", "/bin/sleep", "100000"});
  }
  const double our_start = seconds_since(from);
  const std::vector<pid_t> ours = home.keepers();
  if (ours.size() != count) give_up("not all keepers are there");

  std::this_thread::sleep_for(kSettle);
  const Sum our_before = sum_of(ours);
  const Sum raw_before = sum_of(raw);
  const auto rest_from = Clock::now();
  std::this_thread::sleep_for(kRest);
  const Sum our_after = sum_of(ours);
  const Sum raw_after = sum_of(raw);
  const double hours = seconds_since(rest_from) / kHour;
  for (const pid_t keeper : raw) ::kill(keeper, SIGKILL);
  for (const pid_t keeper : raw) ::waitpid(keeper, nullptr, 0);

  table_head();
  row("start, each until its program runs", our_start / each * 1e3, raw_start / each * 1e3, "ms",
      "");
  row("memory of a keeper, written to", our_after.memory.dirty / each,
      raw_after.memory.dirty / each, "MB", "1 MB");
  row("memory of a keeper, its own", our_after.memory.alone / each, raw_after.memory.alone / each,
      "MB", "1 MB");
  row("wake-ups of a keeper an hour", (our_after.wakes - our_before.wakes) / each / hours,
      (raw_after.wakes - raw_before.wakes) / each / hours, "", "120");
  row("processor time of a keeper an hour", (our_after.cpu - our_before.cpu) / each / hours * 1e3,
      (raw_after.cpu - raw_before.cpu) / each / hours * 1e3, "ms", "");
}

}  // namespace
}  // namespace tend::bench

int main() { tend::bench::compare(); }
