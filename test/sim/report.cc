// Subjects are played one after the other, each over all seeds; then everything is text.
#include "report.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "judge/policy.h"
#include "os/linux/fd.h"
#include "rival.h"
#include "rival_world.h"
#include "swarm.h"

namespace tend::sim {
namespace {

constexpr const char* kReadme = "README.md";
constexpr const char* kNothing = "–";
constexpr const char* kMixed = "mixed";

// --- Playing -------------------------------------------------------------------------------------

template <std::size_t I>
Tally play_rival(const Scenario& scenario) {
  return tally_of(scenario.seed, RivalWorld(scenario, rivals()[I]).play());
}

using Play = Tally (*)(const Scenario&);

/// What a rival does wrong is the rule, and nothing to stop at.
Tally without_findings(const Tally& of) {
  Tally tally;
  tally.worlds = of.worlds;
  tally.agent_time = of.agent_time;
  return tally;
}

template <std::size_t... I>
constexpr std::array<Play, sizeof...(I)> plays_of(std::index_sequence<I...> /*which*/) {
  return {play_rival<I>...};
}
constexpr std::array<Play, kRivalCount> kPlays = plays_of(std::make_index_sequence<kRivalCount>());

// --- Numbers -------------------------------------------------------------------------------------

/// 1234567 as 1,234,567.
std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string grouped(double number) {
  return grouped(static_cast<std::uint64_t>(std::llround(std::max(number, 0.0))));
}

/// How many of them in 1,000 agent-hours.
std::string rate(std::uint64_t count, const Tally& tally) {
  if (tally.agent_time <= Duration::zero()) return kNothing;
  const double per_thousand = static_cast<double>(count) * 1000 / hours(tally.agent_time);
  return per_thousand < 100 ? fmt::format("{:.2f}", per_thousand) : grouped(per_thousand);
}

std::uint64_t missed_count(const Tally& tally) {
  std::uint64_t sum = 0;
  for (const auto& [kind, hangs] : tally.hangs) sum += hangs.missed;
  return sum;
}

/// Those that were found or missed.
std::uint64_t decided_count(const Tally& tally) {
  return missed_count(tally) + tally.found_count();
}

std::string missed_share(const Tally& tally) {
  const std::uint64_t missed = missed_count(tally);
  const std::uint64_t decided = decided_count(tally);
  if (decided == 0) return kNothing;
  return fmt::format("{:.1f} %", 100 * static_cast<double>(missed) / static_cast<double>(decided));
}

std::string missed_of_all(const Tally& tally) {
  if (decided_count(tally) == 0) return kNothing;
  return fmt::format("{} of {} ({})", grouped(missed_count(tally)), grouped(decided_count(tally)),
                     missed_share(tally));
}

std::uint64_t times(const Tally& tally, const char* what) {
  const auto found = tally.broken.find(what);
  return found == tally.broken.end() ? 0 : found->second.times;
}

/// Within which so many percent were found, in minutes. REQUIRES that some were.
std::string minutes(const std::vector<Duration>& delays, std::size_t percent) {
  const std::chrono::duration<double, std::ratio<60>> at = percentile(delays, percent);
  return fmt::format("{:.1f}", at.count());
}

std::string median_of_all(const Tally& tally) {
  std::vector<Duration> delays;
  for (const auto& [kind, hangs] : tally.hangs) {
    delays.insert(delays.end(), hangs.delays.begin(), hangs.delays.end());
  }
  return delays.empty() ? kNothing : minutes(delays, 50) + " min";
}

// --- Tables --------------------------------------------------------------------------------------

std::string row(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

/// The first column holds names, all others numbers.
std::string head(const std::vector<std::string>& cells) {
  std::string text = row(cells) + "|---|";
  for (std::size_t i = 1; i < cells.size(); ++i) text += "---:|";
  return text + "\n";
}

std::vector<std::string> names_of(const std::vector<Subject>& subjects) {
  std::vector<std::string> names{""};
  for (const Subject& subject : subjects) names.push_back("`" + subject.name + "`");
  return names;
}

std::vector<std::string> score_cells(const std::string& name, const Tally& tally) {
  return {name,
          grouped(hours(tally.agent_time)),
          grouped(tally.agents),
          grouped(tally.finished),
          grouped(tally.lives),
          grouped(tally.fault_count()),
          grouped(tally.kills),
          grouped(tally.false_kills),
          rate(tally.false_kills, tally),
          grouped(tally.hang_count()),
          grouped(missed_count(tally)),
          missed_share(tally),
          median_of_all(tally)};
}

std::vector<std::string> score_head(const std::string& of_what) {
  return {of_what,       "agent-hours", "agents", "finished", "lives", "faults",        "kills",
          "false kills", "per 1,000 h", "hangs",  "missed",   "share", "median to find"};
}

std::string score_table(const std::string& of_what, const std::vector<Subject>& subjects) {
  std::string text = head(score_head(of_what));
  for (const Subject& each : subjects) text += row(score_cells("`" + each.name + "`", each.tally));
  return text;
}

std::string alarm_table(const std::vector<Subject>& others) {
  std::string text = head({"rule", "false alarms", "per 1,000 h", "agents given up", "hash"});
  for (const Subject& each : others) {
    const std::uint64_t alarms = times(each.tally, kFalseAlarm);
    text += row({"`" + each.name + "`", grouped(alarms), rate(alarms, each.tally),
                 grouped(times(each.tally, kGaveUp)), fmt::format("{:016x}", each.tally.digest)});
  }
  return text;
}

std::string hang_cell(const Tally& tally, StepKind kind) {
  const auto found = tally.hangs.find(kind);
  if (found == tally.hangs.end() || found->second.all() == 0) return kNothing;
  const HangTally& hangs = found->second;
  const std::string missed =
      hangs.missed == 0 ? "" : fmt::format("{} missed", grouped(hangs.missed));
  if (hangs.delays.empty()) return missed.empty() ? kNothing : missed;
  return fmt::format("{} / {}{}{}", minutes(hangs.delays, 50), minutes(hangs.delays, 99),
                     missed.empty() ? "" : ", ", missed);
}

std::string hang_table(const std::vector<Subject>& subjects) {
  std::string text = head(names_of(subjects));
  for (std::size_t i = 0; i < kStepWords.size(); ++i) {
    const auto kind = static_cast<StepKind>(i);
    if (!is_hang(kind)) continue;
    std::vector<std::string> cells{std::string(kStepWords.at(i))};
    for (const Subject& each : subjects) cells.push_back(hang_cell(each.tally, kind));
    text += row(cells);
  }
  return text;
}

std::string false_kill_table(const Reliability& measured) {
  std::vector<Subject> subjects = measured.others;
  if (!measured.ours.empty()) subjects.insert(subjects.begin(), measured.ours.front());
  std::vector<std::string> names = names_of(subjects);
  if (!measured.ours.empty()) names.at(1) = "**Tend**";
  std::string text = head(names);
  for (std::size_t i = 0; i < kStepWords.size(); ++i) {
    std::uint64_t sum = 0;
    std::vector<std::string> cells{std::string(kStepWords.at(i))};
    for (const Subject& each : subjects) {
      const auto found = each.tally.false_kills_in.find(static_cast<StepKind>(i));
      const std::uint64_t count = found == each.tally.false_kills_in.end() ? 0 : found->second;
      cells.push_back(count == 0 ? kNothing : grouped(count));
      sum += count;
    }
    if (sum > 0) text += row(cells);
  }
  return text;
}

/// Rivals all have the same faults.
std::string fault_table(const Reliability& measured) {
  std::vector<Subject> subjects = measured.ours;
  if (!measured.others.empty()) subjects.push_back(measured.others.front());
  std::vector<std::string> names = names_of(subjects);
  if (!measured.others.empty()) names.back() = "each other rule";
  std::string text = head(names);
  for (std::size_t i = 0; i < kFaultWords.size(); ++i) {
    std::vector<std::string> cells{std::string(kFaultWords.at(i))};
    for (const Subject& each : subjects) {
      const auto found = each.tally.faults.find(static_cast<FaultKind>(i));
      cells.push_back(found == each.tally.faults.end() ? kNothing : grouped(found->second));
    }
    text += row(cells);
  }
  return text;
}

// --- Words ---------------------------------------------------------------------------------------

constexpr std::string_view kHow =
    R"(A world is a machine in memory. In it run the same keepers and commands that are shipped,
with clocks, files, processes and version control that are simulated, and trees of agents that are
models: each has a list of things to do, drawn from the seed (think, call tools, let a sub-agent
work, leave a task in the background, be held by the provider, ask a person, write files, dispatch
and await other agents), and some of them get into trouble (hang in one of the ways below, crash,
exit too early). Meanwhile things go wrong with the machine and with Tend itself. When all faults
are over the world goes on for 4 hours. What an agent really does is known to the world and to
nobody in it.

- A **false kill** is an agent that was ended by the watchdog's own decision while it was neither
  hung nor about to exit, however long it had been silent. A tool that really takes 40 minutes
  counts, though it was ended as its limits said. Ends by order of a person and of orphans do not
  count.
- A **violation** is a promise that was broken: among them a false kill within the limits of what
  the agent was doing, and a hang that was not found within its bound.
- A **missed stall** is an agent that hung for longer than Tend may take to find it, with that
  time anew after each fault, and was not found before the hang or the world ended. A hang that
  something else ended sooner is neither found nor missed, and is not part of the share. A rule
  that only reports has found what it reports. What Tend finds too late counts as missed.
- The **time to find** a stall runs from the last thing the agent did to the verdict, the report
  or the kill. The time that the machine sleeps is part of it. Tend is asked every 20 seconds.
)";

constexpr std::string_view kOthers =
    R"(Rules of other designs, each in a few lines, in the worlds of policy `agent` and with the
same models, seeds and truth. They are spared much of what Tend has to live with: they never die,
their disks are whole and fast, they look at processes without fail, and after a restart of the
machine they are there at once. Where a design leaves something open, the choice is the one that
makes it better: what a watchdog reads itself has an age by a clock that stands still while the
machine sleeps; a time that somebody wrote into a file has an age by the calendar.

An agent that is started again takes up its work with the step that was cut off, which then takes
by chance a tenth to all of the time it took before. A rule that is too short for it ends it again
and again, and each time counts: such a rule has a high rate, little work gets finished, and few
agents ever come to the place where they hang.
)";

constexpr std::string_view kLeftOut =
    R"(Models are models. These numbers compare rules under equal conditions; they do not say how
often your agents hang.

- How long thoughts, tools, holds and answers take is assumed, not recorded. Thoughts show nothing
  until they end and often take minutes; a stream with partial messages shows more. How often
  agents hang is assumed too, and is far more often than anywhere else. Limits and models were
  made by the same people.
- Hangs are clear-cut: an agent that hangs never goes on by itself, and one that is resumed does
  not hang at the same place for ever. Real ones are slow, half stuck, or wait for something that
  comes in the end.
- An agent that was ended loses no more than the step it was in. Lost context, cost and
  half-written files are not counted, neither for Tend nor for the others.
- There is no network, no provider, no terminal and no person but one who answers what is asked.
  Other programs compete for nothing. Time stands still while a program computes, unless a fault
  says otherwise.
- The other rules are our reading of them, without the tuning that somebody who runs them would
  do.
)";

constexpr std::string_view kMixedIs =
    R"(`mixed` are worlds of their own, which the other rules could not live in: agents of all policies
side by side, of which some are asked whether they still answer and are written to, and beside them
some that want to lead, and services that beat.
)";

std::string violations_text(const std::vector<Subject>& ours) {
  std::string text;
  std::uint64_t worlds = 0;
  for (const Subject& each : ours) {
    worlds += each.tally.worlds;
    for (const auto& [check, broken] : each.tally.broken) {
      std::vector<std::uint64_t> seeds = broken.seeds;
      std::ranges::sort(seeds);
      constexpr std::size_t kMostSeeds = 20;
      const bool many = seeds.size() > kMostSeeds;
      seeds.resize(std::min(seeds.size(), kMostSeeds));
      const std::string often =
          broken.times == 1 ? "once" : fmt::format("{} times", grouped(broken.times));
      text += fmt::format("- policy `{}`, {}: {}, with seed {}{}\n", each.name, check, often,
                          fmt::join(seeds, ", "), many ? " ..." : "");
    }
  }
  if (text.empty()) {
    return fmt::format("None: no promise was broken in any of the {} worlds.\n", grouped(worlds));
  }
  return "Promises were broken:\n\n" + text;
}

std::string rules_text() {
  std::string text;
  for (const Rival& each : rivals()) text += fmt::format("- `{}`: {}.\n", each.name, each.rule);
  return text;
}

std::string left_out_text() {
  std::string text = "What these designs have beside that, and is left out here:\n\n";
  for (const Rival& each : rivals()) {
    if (!each.left_out.empty()) text += fmt::format("- `{}`: {}.\n", each.name, each.left_out);
  }
  return text;
}

std::uint64_t hash_of(const Reliability& measured) {
  std::uint64_t sum = 0;
  for (const auto* const subjects : {&measured.ours, &measured.others}) {
    for (const Subject& each : *subjects) sum += each.tally.digest;
  }
  return sum;
}

std::string begin_text(const Reliability& measured) {
  const ReportSettings& settings = measured.settings;
  return fmt::format(
      "# Reliability\n\n"
      "How often Tend ends an agent that works, how many stalls it misses, how long it takes to "
      "find "
      "one; and the\nsame for other rules in the same worlds. This file is made by\n\n"
      "```sh\ntend-sim --report docs/reliability.md --swarm {} --first {} --hours {:g}\n```\n\n"
      "from the seeds {} to {}, {:g} hours a world in which things happen. The same seeds give the "
      "same file; the\nhash over everything that happened in all worlds is `{:016x}`.\n\n",
      settings.count, settings.first, hours(settings.hours), grouped(settings.first),
      grouped(settings.first + settings.count - 1), hours(settings.hours), hash_of(measured));
}

Error cannot_write(const std::string& path) {
  return Error{fmt::format("cannot write {}: {}", path, system_says(errno))};
}

Result<void> write_file(const std::string& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.flush();
  if (!file) return std::unexpected(cannot_write(path));
  return {};
}

/// Leaves everything as it is.
Result<void> can_write(const std::string& path) {
  std::error_code unknown;
  const bool is_there = std::filesystem::exists(path, unknown);
  const std::ofstream file(path, std::ios::binary | std::ios::app);
  if (!file) return std::unexpected(cannot_write(path));
  if (!is_there) std::filesystem::remove(path, unknown);
  return {};
}

std::string readme_text() {
  std::ifstream file(kReadme, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Reliability measure(const ReportSettings& settings, const ReportListener& listener) {
  Reliability measured{.settings = settings, .ours = {}, .others = {}};
  const auto play = [&](std::string_view name, std::string_view title, std::string_view policy,
                        Play how) {
    SwarmSettings swarm{
        .wishes = {.hours = settings.hours, .policy = std::string(policy), .faults = {}},
        .first = settings.first,
        .count = settings.count,
        .jobs = settings.jobs,
        .play = how};
    Subject subject{.name = std::string(name), .title = std::string(title), .tally = {}};
    const bool is_ours = how == play_here;
    subject.tally = play_swarm(swarm, [&](const Played& one, const Tally& so_far) {
      if (is_ours) return listener(subject.name, one, so_far);
      listener(subject.name, {one.seed, without_findings(one.tally)}, without_findings(so_far));
    });
    return subject;
  };
  for (const std::string_view policy : kBuiltInPolicies) {
    measured.ours.push_back(
        play(policy, fmt::format("Tend, policy {}", policy), policy, play_here));
  }
  measured.ours.push_back(play(kMixed, "Tend, everything together", "", play_here));
  for (std::size_t i = 0; i < kRivalCount; ++i) {
    measured.others.push_back(play(rivals()[i].name, rivals()[i].title, "agent", kPlays.at(i)));
  }
  return measured;
}

std::string format_report_table(const Reliability& measured) {
  std::string text = head({"watchdog", "false kills per 1,000 agent-hours", "missed stalls",
                           "median time to find a stall"});
  const auto add = [&](const std::string& title, const Subject& each) {
    const std::uint64_t alarms = times(each.tally, kFalseAlarm);
    std::string kills = rate(each.tally.false_kills, each.tally);
    if (alarms > 0) kills += fmt::format(" (and {} false alarms)", rate(alarms, each.tally));
    text += row({title, kills, missed_of_all(each.tally), median_of_all(each.tally)});
  };
  if (!measured.ours.empty()) add("**Tend**", measured.ours.front());
  for (const Subject& each : measured.others) add(each.title, each);
  return text;
}

std::string format_report(const Reliability& measured) {
  std::string text = begin_text(measured);
  text += format_report_table(measured);
  text.append("\n## How it is measured\n\n").append(kHow);
  text += "\n## Violations\n\n" + violations_text(measured.ours);
  text += "\n## Tend\n\n" + score_table("policy", measured.ours);
  text.append("\n").append(kMixedIs);
  text += "\nTime to find a stall, in minutes, half of them / 99 of 100, by the kind of hang:\n\n";
  text += hang_table(measured.ours);
  text.append("\n## Other rules\n\n").append(kOthers) += "\n" + rules_text();
  text += "\n" + left_out_text();
  text += "\n" + score_table("rule", measured.others) + "\n" + alarm_table(measured.others);
  text += "\nTime to find a stall, as above:\n\n" + hang_table(measured.others);
  text += "\nFalse kills, by what the agent was doing:\n\n" + false_kill_table(measured);
  text += "\n## Faults\n\nHow often each happened:\n\n" + fault_table(measured);
  text.append("\n## What the models leave out\n\n").append(kLeftOut);
  return text;
}

std::optional<std::string> with_table(std::string_view text, std::string_view table) {
  const std::size_t begins = text.find(kTableBegins);
  const std::size_t ends = text.find(kTableEnds);
  if (begins == std::string_view::npos || ends == std::string_view::npos || ends < begins) {
    return std::nullopt;
  }
  const std::size_t inside = begins + kTableBegins.size();
  return fmt::format("{}\n{}{}", text.substr(0, inside), table, text.substr(ends));
}

Result<void> can_publish(const std::string& path) {
  if (auto can = can_write(path); !can) return can;
  return with_table(readme_text(), "") ? can_write(kReadme) : Result<void>{};
}

Result<void> publish(const Reliability& measured, const std::string& path) {
  if (auto wrote = write_file(path, format_report(measured)); !wrote) return wrote;
  const auto changed = with_table(readme_text(), format_report_table(measured));
  return changed ? write_file(kReadme, *changed) : Result<void>{};
}

}  // namespace tend::sim
