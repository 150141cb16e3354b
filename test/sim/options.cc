// CLI11 takes the words apart; what they may be together is said below.
#include "options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/quote.h"
#include "base/suggest.h"
#include "judge/policy.h"

namespace tend::sim {
namespace {

constexpr double kMostHours = 10'000;
constexpr double kFewestHours = 0.1;
constexpr std::uint64_t kMostJobs = 1'000;
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

/// What was typed, before it is known to make sense.
struct Typed {
  CLI::App app{"Plays trees of agents and their keepers in a simulated world.", "tend-sim"};
  std::string hours = "8";
  std::string faults = "all";
  bool shrink = false;
  bool draw = false;

  bool has(const char* name) { return app.count(name) > 0; }
};

std::uint64_t number_in(const char* name, const std::string& text, std::uint64_t least,
                        std::uint64_t most) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec == std::errc{} && read.ptr == end && number >= least && number <= most) return number;
  throw CLI::ValidationError(fmt::format("{} is a whole number from {} to {}, not {}", name, least,
                                         most, in_quotes(text)));
}

template <class Number>
void add_number(CLI::App& app, const char* name, const char* value, Number& to, std::uint64_t least,
                std::uint64_t most, const char* help) {
  app.add_option_function<std::string>(
         name,
         [name, least, most, &to](const std::string& text) {
           to = static_cast<Number>(number_in(name, text, least, most));
         },
         help)
      ->option_text(value);
}

void add_text(CLI::App& app, const char* name, const char* value, std::string& to,
              const char* help) {
  app.add_option(name, to, help)->option_text(value);
}

void add_options(Typed& typed, SimOptions& options) {
  CLI::App& app = typed.app;
  Wishes& wishes = options.wishes;
  add_number(app, "--seed", "N", options.seed, 0, kMost, "Play the world of this seed");
  add_text(app, "--scenario", "FILE", options.scenario, "Play the scenario in a file");
  add_number(app, "--swarm", "COUNT", options.count, 1, kMost, "Play the worlds of many seeds");
  add_text(app, "--hours", "H", typed.hours, "How long things happen in a world; 8");
  add_number(app, "--agents", "K", wishes.agents, 1, kMostPlayed,
             "How many agents, up to 1000; 1 to 12 unless given");
  add_text(app, "--policy", "P", wishes.policy, "The policy of all agents");
  add_text(app, "--faults", "LIST", typed.faults, "all, none, or kinds: sleep,power-cut");
  app.add_flag("--plain", wishes.plain, "One lead, its children, and nothing goes wrong");
  add_number(app, "--first", "N", options.first, 0, kMost, "The first seed of a swarm; 1");
  add_number(app, "--jobs", "J", options.jobs, 1, kMostJobs, "Worlds at a time; one a core");
  add_number(app, "--stop-after", "N", options.stop_after, 1, kMost,
             "Stop after so many failing seeds");
  app.add_flag("--shrink", typed.shrink, "Make a failing scenario smaller and print it");
  add_number(app, "--plays", "N", options.plays, 1, kMost, "How often shrinking may play; 400");
  app.add_flag("--draw", typed.draw, "Print the scenario of a seed");
  app.add_flag("--trace", options.trace, "Print all that happens; with --json to stderr");
  app.add_flag("--json", options.json, "Print the result as JSON");
  add_text(app, "--report", "FILE", options.report, "Write how reliable we and others are");
  app.add_flag("--report-table", options.table, "Print the short form of that");
}

Result<void> read_faults(const std::string& list, Wishes& wishes) {
  wishes.all_faults = list == "all";
  if (list == "all" || list == "none") return {};
  for (std::size_t from = 0; from <= list.size();) {
    const std::size_t to = std::min(list.find(',', from), list.size());
    const std::string word = list.substr(from, to - from);
    if (word == "all" || word == "none") {
      return fail(fmt::format("--faults has '{}' beside others, and it stands alone", word));
    }
    const auto* const found = std::ranges::find(kFaultWords, word);
    if (found == kFaultWords.end()) {
      return fail(fmt::format("--faults has no kind {}{}; there are: {}", in_quotes(word),
                              did_you_mean(word, kFaultWords), fmt::join(kFaultWords, ", ")));
    }
    wishes.faults.push_back(static_cast<FaultKind>(found - kFaultWords.begin()));
    from = to + 1;
  }
  return {};
}

using Names = std::span<const char* const>;

/// Every option of a world that is drawn, and none of them fits a file.
constexpr const char* kOfDrawing[] = {"--hours", "--agents", "--policy", "--faults", "--plain"};
constexpr const char* kOfSwarm[] = {"--first", "--jobs", "--stop-after", "--report",
                                    "--report-table"};
constexpr const char* kNotOfSwarm[] = {"--shrink", "--draw", "--trace"};
/// A report draws its own worlds, as long as is wished for.
constexpr const char* kNotOfReport[] = {"--agents", "--policy",     "--faults",
                                        "--plain",  "--stop-after", "--json"};
/// Both print a scenario, and nothing of what happens in it.
constexpr const char* kNotOfDraw[] = {"--shrink", "--trace", "--json"};
constexpr const char* kNotOfShrink[] = {"--trace", "--json"};
/// Nothing goes wrong there.
constexpr const char* kNotOfPlain[] = {"--faults"};
/// They name something: "" is the variable of a script that was never set.
constexpr const char* kNaming[] = {"--scenario", "--policy", "--faults", "--report"};

bool reports(Typed& typed) { return typed.has("--report") || typed.has("--report-table"); }

/// None of the names was typed beside the one that goes without them.
Result<void> refuse_with(Typed& typed, Names names, const char* with) {
  for (const char* const name : names) {
    if (typed.has(name)) return fail(fmt::format("{} does not go together with {}", name, with));
  }
  return {};
}

Result<void> only_with(Typed& typed, Names names, const char* with) {
  for (const char* const name : names) {
    if (typed.has(name) && !typed.has(with)) return fail(fmt::format("{} wants {}", name, with));
  }
  return {};
}

Result<void> refuse_empty(Typed& typed) {
  for (const char* const name : kNaming) {
    if (typed.has(name) && typed.app[name]->as<std::string>().empty()) {
      return fail(fmt::format("{} wants a word behind it, not ''", name));
    }
  }
  return {};
}

Result<void> check_source(Typed& typed, const SimOptions& options) {
  const int sources = static_cast<int>(typed.has("--seed")) +
                      static_cast<int>(typed.has("--scenario")) +
                      static_cast<int>(typed.has("--swarm"));
  if (sources != 1) return fail("wants one of --seed N, --scenario FILE and --swarm COUNT");
  if (!typed.has("--swarm") || options.count - 1 <= kMost - options.first) return {};
  return fail(fmt::format("--swarm finds no {} seeds from --first {} on: the last one is {}",
                          options.count, options.first, kMost));
}

Result<void> check_together(Typed& typed, const SimOptions& options) {
  if (auto fits = refuse_empty(typed); !fits) return fits;
  if (auto fits = check_source(typed, options); !fits) return fits;
  if (auto fits = only_with(typed, kOfSwarm, "--swarm"); !fits) return fits;
  if (typed.has("--plays") && !typed.shrink) return fail("--plays wants --shrink");
  if (typed.draw && !typed.has("--seed")) return fail("--draw wants --seed N");
  const struct {
    bool is_typed;
    const char* name;
    Names never_with;
  } rules[] = {{typed.draw, "--draw", kNotOfDraw},
               {typed.shrink, "--shrink", kNotOfShrink},
               {typed.has("--scenario"), "--scenario", kOfDrawing},
               {typed.has("--swarm"), "--swarm", kNotOfSwarm},
               {reports(typed), "a report", kNotOfReport},
               {options.wishes.plain, "--plain", kNotOfPlain}};
  for (const auto& rule : rules) {
    if (!rule.is_typed) continue;
    if (auto fits = refuse_with(typed, rule.never_with, rule.name); !fits) return fits;
  }
  return {};
}

Result<Duration> read_hours(const std::string& text) {
  double hours = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, hours);
  const bool is_number = read.ec == std::errc{} && read.ptr == end;
  if (is_number && hours >= kFewestHours && hours <= kMostHours) {
    return Duration{std::llround(hours * 3'600'000)};
  }
  return fail(fmt::format("--hours is a number from {} to {}, not {}", kFewestHours, kMostHours,
                          in_quotes(text)));
}

Result<void> read_wishes(const Typed& typed, Wishes& wishes) {
  const auto hours = read_hours(typed.hours);
  if (!hours) return std::unexpected(hours.error());
  wishes.hours = *hours;
  if (!wishes.policy.empty() && !built_in_policy(wishes.policy)) {
    return fail(fmt::format("--policy is one of {}, not {}", fmt::join(kBuiltInPolicies, ", "),
                            in_quotes(wishes.policy)));
  }
  return read_faults(typed.faults, wishes);
}

SimOptions::What what_of(Typed& typed) {
  if (reports(typed)) return SimOptions::What::report;
  if (typed.has("--swarm")) return SimOptions::What::swarm;
  if (typed.shrink) return SimOptions::What::shrink;
  return typed.draw ? SimOptions::What::draw : SimOptions::What::play;
}

}  // namespace

Result<SimOptions> parse_options(const std::vector<std::string>& words) {
  SimOptions options;
  Typed typed;
  try {
    add_options(typed, options);
    typed.app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    options.what = SimOptions::What::help;
    options.help = typed.app.help();
    return options;
  } catch (const CLI::Error& error) {
    return fail(on_one_line(error.what()));
  }
  if (auto fits = check_together(typed, options); !fits) return std::unexpected(fits.error());
  if (auto fits = read_wishes(typed, options.wishes); !fits) return std::unexpected(fits.error());
  options.what = what_of(typed);
  return options;
}

}  // namespace tend::sim
