// One function per question: those about a policy look at it as it works after inheritance.
#include "store/config_check.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/duration.h"
#include "base/quote.h"
#include "store/config_values.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr int kFewestBeats = 3;
constexpr Duration kStartCeiling = 600s;
constexpr Duration kRetryCeiling = 6h;

/// A warning about one policy. `key` is relative to it: "limits.beats".
struct Finding {
  std::size_t line = 0;
  std::string key;
  std::string text;
};

/// Collects what is found about one policy, and knows where to point.
class Findings {
 public:
  explicit Findings(const ConfiguredPolicy& made) : made_(made) {}

  /// Points at the first of `keys` that the policy itself sets, else at its table.
  void add(std::initializer_list<std::string_view> keys, std::string text) {
    for (const std::string_view key : keys) {
      const auto own = made_.lines.find(key);
      if (own == made_.lines.end()) continue;
      found.push_back({own->second, std::string(key), std::move(text)});
      return;
    }
    found.push_back({made_.line, std::string(*keys.begin()), std::move(text)});
  }
  void add(const WrittenRung& rung, std::string text) {
    const bool own = made_.lines.contains("ladder");
    found.push_back({own ? rung.line : made_.line, "ladder", std::move(text)});
  }

  std::vector<Finding> found;

 private:
  const ConfiguredPolicy& made_;
};

std::string text_of(const Rung& rung) {
  const std::string time = format_duration(rung.after);
  if (rung.missed == 0) return fmt::format("{} after {}", word(rung.action), time);
  return fmt::format("{} after {} missed ({})", word(rung.action), rung.missed, time);
}

// ---- limits ----

void check_beats(const Policy& policy, Findings& findings) {
  const Patience beats = policy.limits.beats;
  const std::pair<std::string_view, Duration> rows[] = {{"suspect", beats.suspect},
                                                        {"stalled", beats.stalled}};
  for (const auto& [name, limit] : rows) {
    const Duration least = kFewestBeats * policy.beat;
    if (limit >= least) continue;
    findings.add({"limits.beats", "beat"},
                 fmt::format("{} after {} is under {} beats of {}: late beats will look like "
                             "silence; give it {} or more",
                             name, format_duration(limit), kFewestBeats,
                             format_duration(policy.beat), format_duration(least)));
  }
  if (beats.suspect != kNoLimit && beats.stalled <= beats.suspect) {
    findings.add({"limits.beats"},
                 fmt::format("stalled ({}) is not above suspect ({}): the first look is the last",
                             format_duration(beats.stalled), format_duration(beats.suspect)));
  }
  if (beats.suspect == kNoLimit && beats.stalled != kNoLimit) {
    findings.add({"limits.beats"}, "stalled has a limit but suspect has none: it is never reached");
  }
}

void check_ceilings(const Policy& policy, Findings& findings) {
  const Limits& limits = policy.limits;
  const bool follows_beats =
      policy.promise == Promise::beats && limits.start == limits.beats.suspect;
  if (limits.start > kStartCeiling && limits.start != kNoLimit && !follows_beats) {
    findings.add({"limits.start"},
                 fmt::format("{} is above the ceiling of {} for weak signs of a start: they cannot "
                             "put off the end, it comes at {}",
                             format_duration(limits.start), format_duration(kStartCeiling),
                             format_duration(limits.start + limits.confirm)));
  }
  if (limits.retry > kRetryCeiling && limits.retry != kNoLimit) {
    findings.add(
        {"limits.retry"},
        fmt::format("{} is above the ceiling of {} for retries in a row, which comes first",
                    format_duration(limits.retry), format_duration(kRetryCeiling)));
  }
}

/// `start` and `exiting` are left out: they are short by nature.
void check_confirm(const Policy& policy, Findings& findings) {
  const Limits& limits = policy.limits;
  const std::pair<std::string_view, Duration> rows[] = {
      {"model", limits.model},           {"tool", limits.tool}, {"compact", limits.compact},
      {"retry", limits.retry},           {"idle", limits.idle}, {"beats", limits.beats.suspect},
      {"background", limits.background},
  };
  std::vector<std::string> shorter;
  for (const auto& [name, limit] : rows) {
    if (limit < limits.confirm)
      shorter.push_back(fmt::format("{} {}", name, format_duration(limit)));
  }
  if (shorter.empty()) return;
  findings.add({"limits.confirm", "limits.beats", "limits.model", "limits.tool", "limits.compact",
                "limits.retry", "limits.idle", "limits.background"},
               fmt::format("the second look (confirm {}) takes longer than what it confirms: {}",
                           format_duration(limits.confirm), fmt::join(shorter, ", ")));
}

void check_orphans(const Policy& policy, Findings& findings) {
  if (policy.limits.orphan == Duration::zero()) {
    findings.add({"limits.orphan"}, "0 leaves a parent that restarts no time to take over its own");
  }
  if (policy.limits.grace == Duration::zero()) {
    findings.add({"limits.grace"}, "0 leaves an orphan no time to end by itself");
  }
}

void check_budget(const Policy& policy, Findings& findings) {
  const Budget& budget = policy.budget;
  if (budget.per_agent >= budget.between_refills) return;
  findings.add({"budget.per_agent", "budget.between_refills"},
               fmt::format("per_agent ({}) is below between_refills ({}), which is never used up",
                           budget.per_agent, budget.between_refills));
}

// ---- ladder ----

int strength(Action action) {
  constexpr std::array<Action, 6> kRising{Action::warn,     Action::ping,     Action::notify,
                                          Action::escalate, Action::preserve, Action::kill};
  return static_cast<int>(std::ranges::find(kRising, action) - kRising.begin());
}

void check_order_of_file(const std::vector<WrittenRung>& ladder, Findings& findings) {
  for (std::size_t i = 1; i < ladder.size(); ++i) {
    if (ladder[i].rung.after >= ladder[i - 1].rung.after) continue;
    findings.add(ladder[i], fmt::format("out of order: {} stands below {}; it is taken first",
                                        text_of(ladder[i].rung), text_of(ladder[i - 1].rung)));
  }
}

std::vector<WrittenRung> by_time(const std::vector<WrittenRung>& ladder) {
  constexpr auto kAfter = [](const WrittenRung& each) { return each.rung.after; };
  std::vector<WrittenRung> sorted;
  for (const WrittenRung& each : ladder) {
    sorted.insert(std::ranges::upper_bound(sorted, each.rung.after, {}, kAfter), each);
  }
  return sorted;
}

void check_order_of_strength(const std::vector<WrittenRung>& written, Findings& findings) {
  const std::vector<WrittenRung> ladder = by_time(written);
  for (std::size_t i = 1; i < ladder.size(); ++i) {
    const Rung& before = ladder[i - 1].rung;
    const Rung& rung = ladder[i].rung;
    if (strength(rung.action) >= strength(before.action)) continue;
    findings.add(ladder[i], fmt::format("out of order: {} comes later than the stronger {}",
                                        text_of(rung), text_of(before)));
  }
}

struct Kill {
  Duration after{};
  std::string_view phase;
};

/// The longest silence before the judge kills by itself, as long as nothing puts it off; nothing if
/// it may wait for ever in some phase.
std::optional<Kill> latest_kill(const Policy& policy) {
  const Limits& limits = policy.limits;
  if (policy.promise == Promise::nothing) return std::nullopt;
  if (limits.beats.suspect == kNoLimit || limits.beats.stalled == kNoLimit) return std::nullopt;
  Kill latest{std::max(limits.beats.stalled, limits.beats.suspect + limits.confirm), "beats"};
  if (policy.promise == Promise::beats) return latest;

  const Kill rows[] = {{limits.start, "start"}, {limits.model, "model"},
                       {limits.tool, "tool"},   {limits.compact, "compact"},
                       {limits.retry, "retry"}, {limits.background, "background"},
                       {limits.idle, "idle"}};
  for (const auto& [limit, phase] : rows) {
    if (limit == kNoLimit) return std::nullopt;
    if (limit + limits.confirm > latest.after) latest = {limit + limits.confirm, phase};
  }
  return latest;
}

void check_reach(const ConfiguredPolicy& made, Findings& findings) {
  const auto kill = latest_kill(made.policy);
  for (const WrittenRung& each : made.ladder) {
    if (each.rung.after < made.policy.beat) {
      findings.add(each, fmt::format("{} is sooner than one beat ({})", text_of(each.rung),
                                     format_duration(made.policy.beat)));
    }
    if (kill && each.rung.after > kill->after) {
      findings.add(each,
                   fmt::format("{} is never reached: silence is ended by then (after {}, in "
                               "phase {}) unless a weak sign or a tool's own limit puts "
                               "that off",
                               text_of(each.rung), format_duration(kill->after), kill->phase));
    }
  }
}

void check_ladder(const ConfiguredPolicy& made, Findings& findings) {
  if (made.ladder.empty()) return;
  check_order_of_file(made.ladder, findings);
  check_order_of_strength(made.ladder, findings);
  if (!made.policy.direct) return check_reach(made, findings);
  findings.add({"direct", "ladder"},
               "direct restarts at the limit itself: a rung later than that is never taken");
}

std::vector<Finding> findings_of(const ConfiguredPolicy& made) {
  Findings findings(made);
  check_beats(made.policy, findings);
  check_ceilings(made.policy, findings);
  check_confirm(made.policy, findings);
  check_orphans(made.policy, findings);
  check_budget(made.policy, findings);
  check_ladder(made, findings);
  return std::move(findings.found);
}

bool is_inherited(const Finding& finding, const std::vector<Finding>& of_base) {
  return std::ranges::find(of_base, finding.text, &Finding::text) != of_base.end();
}

// ---- [patrol] and [[notify]] ----

constexpr std::array<std::string_view, kPatrolContexts> kContexts{"active", "overnight",
                                                                  "critical"};

/// Points at the first of `keys` that is written. There is one: the defaults fit.
void warn_of(const Config& config, std::initializer_list<std::string> keys, std::string text,
             ConfigProblems& warnings) {
  for (const std::string& key : keys) {
    const auto line = config.lines.find(key);
    if (line == config.lines.end()) continue;
    warnings.push_back({config.file, line->second, 0, key, std::move(text)});
    return;
  }
}

void check_sweeps(const Config& config, std::size_t context, ConfigProblems& warnings) {
  const Duration stale = config.patrol.paces.at(context).interval * 2;
  const Duration sweep = config.patrol.sweeps.usual;
  if (sweep <= stale) return;
  warn_of(
      config,
      {"patrol.interval", fmt::format("patrol.{}.stale", kContexts.at(context)), "patrol.shortest"},
      fmt::format("a sweep every {} is less often than {} tasks turn stale ({}): they are seen "
                  "late",
                  format_duration(sweep), kContexts.at(context), format_duration(stale)),
      warnings);
}

void check_patrol_ladder(const Config& config, std::size_t context, ConfigProblems& warnings) {
  const PatrolLadder& ladder = config.patrol.paces.at(context).ladder;
  const auto key = [&](std::string_view rung) {
    return fmt::format("patrol.{}.{}", kContexts.at(context), rung);
  };
  std::size_t before = kPatrolRungs;  // the last rung that is on
  for (std::size_t rung = 0; rung < kPatrolRungs; ++rung) {
    const std::uint32_t missed = ladder.missed.at(rung);
    if (missed == PatrolLadder::kOff) continue;
    if (before < kPatrolRungs && missed < ladder.missed.at(before)) {
      warn_of(config, {key(kPatrolRungWords.at(rung)), key(kPatrolRungWords.at(before))},
              fmt::format("out of order: {} at {} missed comes before the milder {} at {}",
                          kPatrolRungWords.at(rung), missed, kPatrolRungWords.at(before),
                          ladder.missed.at(before)),
              warnings);
    }
    before = rung;
  }
  const std::uint32_t escalate = ladder.of(PatrolRung::escalate);
  const std::uint32_t working = ladder.escalate_working;
  if (working == PatrolLadder::kOff || escalate == PatrolLadder::kOff || working >= escalate) {
    return;
  }
  warn_of(config, {key("escalate_working"), key("escalate")},
          fmt::format("a worker that is known to work is escalated at {} missed, before any other "
                      "(escalate: {})",
                      working, escalate),
          warnings);
}

bool is_on_this_machine(std::string_view url) {
  constexpr std::string_view kHttp = "http://";
  const std::string_view host = url.substr(kHttp.size());
  return host.starts_with("localhost") || host.starts_with("127.") || host.starts_with("[::1]");
}

void check_channels(const Config& config, ConfigProblems& warnings) {
  for (const NotifyChannel& channel : config.channels) {
    if (!channel.url.starts_with("http://") || is_on_this_machine(channel.url)) continue;
    warnings.push_back({config.file, channel.line, 0, "notify",
                        fmt::format("{} goes out over http: everybody on the way can read it, and "
                                    "its address; use https",
                                    channel.name)});
  }
}

// ---- [gate] and [probe.NAME] ----

constexpr Duration kShortestLease = 60s;
constexpr Duration kOftenAsked = 10s;
constexpr int kFewestQuestions = 2;

void check_gate(const Config& config, ConfigProblems& warnings) {
  const GateSettings& gate = config.gate;
  if (gate.lease < kShortestLease) {
    warn_of(config, {"gate.lease"},
            fmt::format("{} is under {}: a message that takes longer is handed out again while "
                        "somebody works on it",
                        format_duration(gate.lease), format_duration(kShortestLease)),
            warnings);
  }
  if (gate.reply_every == Duration::zero()) {
    warn_of(config, {"gate.reply_every"},
            "0 answers every message of a sender: two machines may answer each other for ever",
            warnings);
  }
}

void check_probe(const Config& config, const std::string& name, const ProbeSettings& probe,
                 ConfigProblems& warnings) {
  const auto key = [&](std::string_view last) {
    return fmt::format("probe.{}.{}", is_bare(name) ? name : in_quotes(name), last);
  };
  const Duration least = kFewestQuestions * probe.interval;
  if (probe.deadline < least) {
    warn_of(config, {key("deadline"), key("interval")},
            fmt::format("{} is under {} questions of {}: one answer that is late looks like none; "
                        "give it {} or more",
                        format_duration(probe.deadline), kFewestQuestions,
                        format_duration(probe.interval), format_duration(least)),
            warnings);
  }
  if (probe.interval < kOftenAsked) {
    warn_of(config, {key("interval"), key("deadline")},
            fmt::format("a question every {} leaves the agent little time for anything else; ask "
                        "every {} or less often",
                        format_duration(probe.interval), format_duration(kOftenAsked)),
            warnings);
  }
}

}  // namespace

ConfigProblems check_config(const Config& config) {
  ConfigProblems warnings;
  for (std::size_t context = 0; context < kPatrolContexts; ++context) {
    check_sweeps(config, context, warnings);
    check_patrol_ladder(config, context, warnings);
  }
  check_channels(config, warnings);
  check_gate(config, warnings);
  for (const auto& [name, probe] : config.probes) check_probe(config, name, probe, warnings);
  for (const auto& [name, made] : config.policies) {
    const auto base = config.policies.find(made.extends);
    std::vector<Finding> of_base;
    if (base != config.policies.end()) of_base = findings_of(base->second);
    for (const Finding& finding : findings_of(made)) {
      if (is_inherited(finding, of_base)) continue;
      warnings.push_back({config.file, finding.line, 0,
                          fmt::format("policy.{}.{}", name, finding.key), finding.text});
    }
  }
  std::ranges::sort(warnings, before_in_file);
  return warnings;
}

}  // namespace tend
