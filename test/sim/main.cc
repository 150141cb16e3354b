// tend-sim: one world, many worlds, or the smallest world that shows a fault of ours.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "options.h"
#include "players.h"
#include "report.h"
#include "scenario.h"
#include "shrink.h"
#include "swarm.h"
#include "tally.h"

namespace {

using namespace tend;
using namespace tend::sim;

constexpr int kHeld = 0;
constexpr int kViolated = 1;
constexpr int kUsage = 2;

void say(std::string_view text) { fmt::print(stdout, "{}", text); }
void remark(std::string_view text) { fmt::print(stderr, "{}", text); }

int refuse(const Error& error) {
  remark(fmt::format("tend-sim: {} (see 'tend-sim --help')\n", error.text));
  return kUsage;
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) return fail(fmt::format("cannot read {}", path));
  return text;
}

Result<Scenario> scenario_of(const SimOptions& options) {
  if (options.scenario.empty()) return draw_scenario(options.seed, options.wishes);
  const auto text = read_file(options.scenario);
  if (!text) return std::unexpected(text.error());
  auto scenario = parse_scenario(*text);
  if (!scenario) return fail(fmt::format("{}: {}", options.scenario, scenario.error().text));
  return scenario;
}

int conclude(const SimOptions& options, const std::string& title, const Tally& tally) {
  say(options.json ? format_tally(tally) + "\n" : title + describe_tally(tally));
  return tally.broken.empty() ? kHeld : kViolated;
}

/// Here and not apart, each line at once: it is seen before the crash that it leads to.
Tally play_with_trace(const Scenario& scenario) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  return play_traced(scenario, [](const std::string& line) { say(line + "\n"); });
}

int play(const SimOptions& options) {
  const auto scenario = scenario_of(options);
  if (!scenario) return refuse(scenario.error());
  const Tally tally = options.trace ? play_with_trace(*scenario) : play_apart(*scenario);
  return conclude(options, fmt::format("seed {}\n", scenario->seed), tally);
}

int draw(const SimOptions& options) {
  say(format_scenario(draw_scenario(options.seed, options.wishes)));
  return kHeld;
}

std::size_t jobs_of(const SimOptions& options) {
  return options.jobs > 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
}

/// Shows how far a swarm is, by the clock on the wall.
class Watching {
 public:
  explicit Watching(std::uint64_t count) : progress_(count, ::isatty(STDERR_FILENO) == 1, remark) {}

  void hear(const Played& one, const Tally& so_far) {
    progress_.hear(one, so_far,
                   std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - began_));
  }
  void end() { progress_.end(); }

 private:
  SwarmProgress progress_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

int swarm(const SimOptions& options) {
  const SwarmSettings settings{.wishes = options.wishes,
                               .first = options.first,
                               .count = options.count,
                               .jobs = jobs_of(options),
                               .stop_after = options.stop_after};
  Watching watching(settings.count);
  const Tally tally = play_swarm(
      settings, [&](const Played& one, const Tally& so_far) { watching.hear(one, so_far); });
  watching.end();
  return conclude(options, "", tally);
}

/// Rivals do wrong all the time: only what ours did counts.
int report(const SimOptions& options) {
  const ReportSettings settings{.first = options.first,
                                .count = options.count,
                                .hours = options.wishes.hours,
                                .jobs = jobs_of(options)};
  std::string subject;
  std::optional<Watching> watching;
  const auto listen = [&](const std::string& whose, const Played& one, const Tally& so_far) {
    if (std::exchange(subject, whose) != whose) {
      if (watching) watching->end();
      watching.emplace(settings.count);
      remark(whose + "\n");
    }
    watching->hear(one, so_far);
  };
  const Reliability measured = measure(settings, listen);
  if (watching) watching->end();
  if (options.report.empty()) {
    say(format_report_table(measured));
  } else if (const auto published = publish(measured, options.report); !published) {
    return refuse(published.error());
  }
  const bool held = std::ranges::all_of(
      measured.ours, [](const Subject& ours) { return ours.tally.broken.empty(); });
  return held ? kHeld : kViolated;
}

int make_smaller(const SimOptions& options) {
  const auto scenario = scenario_of(options);
  if (!scenario) return refuse(scenario.error());
  const Tally whole = play_apart(*scenario);
  if (whole.broken.empty()) {
    remark("tend-sim: nothing is violated there: there is nothing to make smaller\n");
    return kHeld;
  }
  const std::string check = whole.first_broken();
  remark(fmt::format("looking for the smallest world that violates: {}\n", check));
  const ShrinkSettings settings{.most_plays = options.plays,
                                .progress = [](const std::string& line) { remark(line + "\n"); }};
  const Scenario least = shrink(
      *scenario,
      [&](const Scenario& smaller) { return play_apart(smaller).broken.contains(check); },
      settings);
  say(format_scenario(least));
  return kViolated;
}

}  // namespace

int main(int count, char** arguments) {
  const auto options =
      parse_options(std::vector<std::string>(arguments + (count > 0 ? 1 : 0), arguments + count));
  if (!options) return refuse(options.error());
  switch (options->what) {
    case SimOptions::What::help:
      say(options->help);
      return kHeld;
    case SimOptions::What::play:
      return play(*options);
    case SimOptions::What::swarm:
      return swarm(*options);
    case SimOptions::What::shrink:
      return make_smaller(*options);
    case SimOptions::What::draw:
      return draw(*options);
    case SimOptions::What::report:
      return report(*options);
  }
  return kUsage;
}
