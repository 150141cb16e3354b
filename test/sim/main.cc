// tend-sim: one world, many worlds, or the smallest world that shows a fault of ours.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "options.h"
#include "os/linux/fd.h"
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
constexpr int kInterrupted = 128;  // and the number of the signal, as shells say it

/// What said no when it was first written in vain; 0: all was taken.
int lost_output = 0;
int lost_trace = 0;

void write(std::string_view text, std::FILE* to, int& lost) {
  if (std::fwrite(text.data(), 1, text.size(), to) < text.size() && lost == 0) lost = errno;
}
void say(std::string_view text) { write(text, stdout, lost_output); }
/// To people; where they cannot read it nothing is lost.
void remark(std::string_view text) {
  int lost = 0;
  write(text, stderr, lost);
}

int refuse(const Error& error) {
  remark(fmt::format("tend-sim: {} (see 'tend-sim --help')\n", error.text));
  return kUsage;
}

int cannot_write(std::string_view what, int error) {
  remark(fmt::format("tend-sim: cannot write {}: {}\n", what, system_says(error)));
  return kUsage;
}

/// What was not written cannot be relied on, whatever it said.
int end(int exit) {
  if (std::fflush(stdout) != 0 && lost_output == 0) lost_output = errno;
  if (lost_output != 0) return cannot_write("to standard output", lost_output);
  return lost_trace != 0 ? cannot_write("the trace to standard error", lost_trace) : exit;
}

Result<Scenario> scenario_of(const SimOptions& options) {
  if (options.scenario.empty()) return draw_scenario(options.seed, options.wishes);
  return load_scenario(options.scenario);
}

int verdict(const Tally& tally) { return tally.broken.empty() ? kHeld : kViolated; }

/// Here and not apart, each line at once: it is seen before the crash that it leads to. Beside JSON
/// it goes to standard error, so that the JSON can be read.
Tally play_with_trace(const Scenario& scenario, bool beside_json) {
  if (beside_json) {
    return play_traced(scenario,
                       [](const std::string& line) { write(line + "\n", stderr, lost_trace); });
  }
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  return play_traced(scenario, [](const std::string& line) { say(line + "\n"); });
}

int play(const SimOptions& options) {
  const auto scenario = scenario_of(options);
  if (!scenario) return refuse(scenario.error());
  const Tally tally =
      options.trace ? play_with_trace(*scenario, options.json) : play_apart(*scenario);
  say(options.json ? format_tally("seed", scenario->seed, tally) + "\n"
                   : fmt::format("seed {}\n{}", scenario->seed, describe_tally(tally)));
  return verdict(tally);
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

std::string rest_of_swarm(const SwarmSettings& settings, const Tally& tally) {
  return fmt::format("broken off: {} of {} worlds played; go on with --swarm {} --first {}\n",
                     tally.worlds, settings.count, settings.count - tally.worlds,
                     settings.first + tally.worlds);
}

int swarm(const SimOptions& options) {
  const Fd caught = catch_interrupts();
  const SwarmSettings settings{.wishes = options.wishes,
                               .first = options.first,
                               .count = options.count,
                               .jobs = jobs_of(options),
                               .stop_after = options.stop_after,
                               .break_off = caught.get()};
  Watching watching(settings.count);
  const Tally tally = play_swarm(
      settings, [&](const Played& one, const Tally& so_far) { watching.hear(one, so_far); });
  watching.end();
  const int interrupt = tally.worlds < settings.count ? interrupt_in(caught) : 0;
  say(options.json ? format_tally("first", options.first, tally, interrupt != 0) + "\n"
                   : describe_tally(tally));
  if (interrupt == 0) return verdict(tally);
  if (!options.json) say(rest_of_swarm(settings, tally));
  return tally.broken.empty() ? kInterrupted + interrupt : kViolated;
}

/// An hour of worlds is not lost to a disk that is full in the end.
int publish_or_say(const Reliability& measured, const SimOptions& options) {
  if (!options.report.empty()) {
    if (const auto published = publish(measured, options.report); !published) {
      say(format_report(measured));
      remark(fmt::format("tend-sim: {}; the report is on standard output instead\n",
                         published.error().text));
      return kUsage;
    }
  }
  if (options.table) say(format_report_table(measured));
  return kHeld;
}

/// Rivals do wrong all the time: only what ours did counts.
int report(const SimOptions& options) {
  if (!options.report.empty()) {
    if (const auto can = can_publish(options.report); !can) return refuse(can.error());
  }
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
  if (const int exit = publish_or_say(measured, options); exit != kHeld) return exit;
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

int run(const SimOptions& options) {
  switch (options.what) {
    case SimOptions::What::help:
      say(options.help);
      return kHeld;
    case SimOptions::What::play:
      return play(options);
    case SimOptions::What::swarm:
      return swarm(options);
    case SimOptions::What::shrink:
      return make_smaller(options);
    case SimOptions::What::draw:
      return draw(options);
    case SimOptions::What::report:
      return report(options);
  }
  return kUsage;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const auto options =
        parse_options(std::vector<std::string>(arguments + (count > 0 ? 1 : 0), arguments + count));
    return options ? end(run(*options)) : refuse(options.error());
  } catch (const MachineTrouble& trouble) {
    remark(fmt::format("tend-sim: {}\n", trouble.what()));
  } catch (const std::bad_alloc&) {
    remark("tend-sim: out of memory: it wants more, or fewer agents and hours\n");
  }
  return kUsage;
}
