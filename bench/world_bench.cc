// How fast tend-sim plays: hours of agents in one second of a processor, in a plain tree under the
// production keepers, against the same agents on the same simulated machine that nobody looks
// after. That is the limit: what the machine and the models cost, without anything that is shipped.
// The ratio is what counts, and comes from both played in turn; the rates are the machine's.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <functional>
#include <vector>

#include "base/time.h"
#include "rival.h"
#include "rival_world.h"
#include "scenario.h"
#include "seeded_world.h"
#include "tally.h"

namespace tend::sim {
namespace {

constexpr std::uint64_t kSeed = 7;
constexpr std::uint64_t kTurns = 9;  // of each, in turn

/// Long enough that setting a world up is nothing beside it.
Scenario plain_tree() {
  return draw_scenario(
      kSeed,
      {.hours = std::chrono::hours{200}, .agents = 5, .policy = "", .faults = {}, .plain = true});
}

/// Sees nothing wrong, and hardly ever looks.
RivalWord nobody(const RivalSight& /*sees*/) { return RivalWord::fine; }
constexpr Rival kNobody{.name = "nobody",
                        .title = "nobody",
                        .rule = "nobody looks",
                        .left_out = "",
                        .judge = nobody,
                        .looks_every = std::chrono::hours{24}};

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// Agent-hours in a second of a processor; 0 if something was not as it has to be.
double rate_of(const std::function<Outcome()>& play) {
  const double from = processor_seconds();
  const Outcome outcome = play();
  const double took = processor_seconds() - from;
  const bool well = outcome.violations.empty() && outcome.finished == outcome.agents;
  return well && took > 0 ? hours(outcome.agent_time) / took : 0;
}

double median(std::vector<double> rates) {
  std::ranges::sort(rates);
  return rates[rates.size() / 2];
}

void ratio_of_a_plain_tree(benchmark::State& state) {
  const Scenario scenario = plain_tree();
  std::vector<double> ours;
  std::vector<double> raw;
  for (auto _ : state) {
    ours.push_back(rate_of([&] { return SeededWorld(scenario).play(); }));
    raw.push_back(rate_of([&] { return RivalWorld(scenario, kNobody).play(); }));
  }
  if (*std::ranges::min_element(ours) <= 0 || *std::ranges::min_element(raw) <= 0) {
    return state.SkipWithError("a plain world did not come to its end");
  }
  state.counters["agent_hours_a_second"] = median(ours);
  state.counters["raw_agent_hours_a_second"] = median(raw);
  state.counters["ratio"] = median(raw) / median(ours);
}
BENCHMARK(ratio_of_a_plain_tree)->Iterations(kTurns)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tend::sim
