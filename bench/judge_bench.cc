// What judging costs: signals through step(), the bytes of one judge, snapshot and restore. The raw
// limit beside it is one pass over the same signals that only looks at their kind.
#include <benchmark/benchmark.h>

#include <array>
#include <string>
#include <vector>

#include "judge/judge.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

Signal of(Kind kind) {
  Signal signal;
  signal.is = kind;
  return signal;
}

/// A turn as agents show it: thinking, a call with probes and beats around it, an end.
std::vector<Signal> a_turn() {
  std::vector<Signal> turn;
  turn.push_back(of(Kind::turn_start));
  turn.push_back(of(Kind::progress));
  Signal open = of(Kind::tool_open);
  open.id = "toolu_01ABCDEFGHJKMNPQRSTVWXYZ";
  open.tool = "Bash";
  open.limit = 600s;
  turn.push_back(open);
  Signal probe = of(Kind::process);
  probe.process = ProcessState::running;
  turn.push_back(probe);
  Signal beat = of(Kind::beat);
  beat.by = BeatBy::keeper;
  turn.push_back(beat);
  Signal close = of(Kind::tool_close);
  close.id = open.id;
  turn.push_back(close);
  turn.push_back(of(Kind::progress));
  turn.push_back(of(Kind::progress));
  turn.push_back(probe);
  turn.push_back(of(Kind::turn_end));
  return turn;
}

Judge judge_in_a_turn() {
  Judge judge(*built_in_policy("agent"));
  const Signal spawn = of(Kind::spawn);
  judge.step({&spawn, 1}, Instant{});
  return judge;
}

void raw_limit_look_at_each_signal(benchmark::State& state) {
  const std::vector<Signal> turn = a_turn();
  std::array<std::uint64_t, kKindWords.size()> seen{};
  std::size_t i = 0;
  for (auto _ : state) {
    ++seen[static_cast<std::size_t>(turn[i].is)];
    benchmark::DoNotOptimize(seen.data());
    i = i + 1 == turn.size() ? 0 : i + 1;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(raw_limit_look_at_each_signal);

void signals_through_step(benchmark::State& state) {
  const std::vector<Signal> turn = a_turn();
  Judge judge = judge_in_a_turn();
  Instant now{};
  std::size_t i = 0;
  for (auto _ : state) {
    now += 700ms;
    benchmark::DoNotOptimize(judge.step({&turn[i], 1}, now));
    i = i + 1 == turn.size() ? 0 : i + 1;
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["bytes_of_one_judge"] = static_cast<double>(judge.bytes());
}
BENCHMARK(signals_through_step);

void probes_that_say_nothing_new(benchmark::State& state) {
  Judge judge = judge_in_a_turn();
  Signal probe = of(Kind::process);
  probe.process = ProcessState::running;
  Instant now{};
  judge.step({&probe, 1}, now);
  const Signal progress = of(Kind::progress);
  std::uint64_t since_progress = 0;
  for (auto _ : state) {
    now += 500ms;
    const bool alive = ++since_progress % 64 == 0;
    benchmark::DoNotOptimize(judge.step({alive ? &progress : &probe, 1}, now));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(probes_that_say_nothing_new);

void snapshot(benchmark::State& state) {
  const Judge judge = judge_in_a_turn();
  for (auto _ : state) benchmark::DoNotOptimize(judge.snapshot());
  state.counters["bytes"] = static_cast<double>(judge.snapshot().size());
}
BENCHMARK(snapshot);

void restore(benchmark::State& state) {
  const std::string written = judge_in_a_turn().snapshot();
  const Policy policy = *built_in_policy("agent");
  for (auto _ : state) benchmark::DoNotOptimize(Judge::restore(policy, written));
}
BENCHMARK(restore);

}  // namespace
}  // namespace tend
