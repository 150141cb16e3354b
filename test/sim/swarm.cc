// The swarm hands out seeds in order to as many players as there are cores.
#include "swarm.h"

#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

std::string progress_line(std::uint64_t count, const Tally& so_far, Duration elapsed) {
  const double seconds = std::chrono::duration<double>(elapsed).count();
  return fmt::format(
      "{} of {} worlds, {:.0f} agent-hours, {} violations ({} of safety) in {} worlds, "
      "{:.1f} a second",
      so_far.worlds, count, hours(so_far.agent_time), so_far.violations(),
      so_far.violations_of_safety(), so_far.broken_worlds,
      seconds > 0 ? static_cast<double>(so_far.worlds) / seconds : 0.0);
}

}  // namespace

Tally play_swarm(const SwarmSettings& settings, const SwarmListener& listener) {
  Tally sum;
  Players players;
  std::uint64_t begun = 0;
  std::map<std::uint64_t, Tally> early;  // a world before it is still being played
  const auto fails = [&] {
    return settings.stop_after > 0 && sum.broken_worlds >= settings.stop_after;
  };
  while (sum.worlds < settings.count && !fails()) {
    while (begun < settings.count && players.playing() < settings.jobs) {
      players.begin(draw_scenario(settings.first + begun, settings.wishes), settings.play);
      ++begun;
    }
    std::optional<Played> one = players.await_one_or(settings.break_off);
    if (!one) break;
    early.emplace(one->seed, std::move(one->tally));
    while (!early.empty() && early.begin()->first == settings.first + sum.worlds && !fails()) {
      const Played next{early.begin()->first, std::move(early.begin()->second)};
      early.erase(early.begin());
      sum += next.tally;
      listener(next, sum);
    }
  }
  return sum;
}

SwarmProgress::SwarmProgress(std::uint64_t count, bool terminal, Write write)
    : count_(count),
      terminal_(terminal),
      every_(terminal ? Duration{200ms} : Duration{60s}),
      next_(terminal ? Duration{} : every_),
      write_(std::move(write)) {}

void SwarmProgress::hear(const Played& one, const Tally& so_far, Duration elapsed) {
  const std::string clear = terminal_ ? "\r\033[K" : "";
  for (const auto& [check, broken] : one.tally.broken) {
    write_(fmt::format("{}seed {}: {}: {}\n", clear, one.seed, check, broken.said.front()));
  }
  const bool line_is_gone = terminal_ && !one.tally.broken.empty();
  if (elapsed < next_ && !line_is_gone) return;
  next_ = elapsed + every_;
  write_(clear + progress_line(count_, so_far, elapsed) + (terminal_ ? "" : "\n"));
}

void SwarmProgress::end() {
  if (terminal_) write_("\r\033[K");
}

}  // namespace tend::sim
