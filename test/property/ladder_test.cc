// Episodes end, rungs are taken once, and restarts are counted.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>

#include "driver.h"
#include "random_trace.h"
#include "witness.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

bool is_attempt(const Decision& decision) {
  return decision.kind == Decision::Kind::action &&
         (decision.action == Action::resume || decision.action == Action::restart);
}

bool is_trouble(Verdict verdict) {
  return verdict == Verdict::suspect || verdict == Verdict::stalled || verdict == Verdict::dead ||
         verdict == Verdict::looping;
}

bool ends_episode(Verdict verdict) {
  return verdict == Verdict::starting || verdict == Verdict::working ||
         verdict == Verdict::waiting || verdict == Verdict::idle || verdict == Verdict::finished;
}

// ---- Budgets

/// Without what makes an attempt free: an unfit observer, a dead parent, a provider's hold.
Trace without_excuses(const Trace& trace) {
  Trace strict = trace;
  for (std::size_t i = strict.events.size(); i-- > 0;) {
    Signal& signal = strict.events[i].signal;
    if (signal.is == Kind::turn_end && signal.cause != Cause::another) signal.cause = Cause::none;
    const auto excuses = {Kind::suspend, Kind::lag,    Kind::fault,
                          Kind::fleet,   Kind::parent, Kind::retry};
    if (std::ranges::find(excuses, signal.is) != excuses.end()) erase(strict, i);
  }
  return strict;
}

/// Counts attempts as a person would who reads the log beside the trace.
class Account {
 public:
  void look(const Witness& witness, const Look& look) {
    if (witness.refills != refills_) spent_ = 0;
    refills_ = witness.refills;
    if (witness.life() != life_) granted_ = false;
    life_ = witness.life();
    for (const Decision& decision : look.outcome.decisions) {
      if (decision.kind == Decision::Kind::verdict) {
        change(decision.verdict, look.now);
      } else if (is_attempt(decision)) {
        attempt();
      }
    }
  }

  std::uint32_t spent_ = 0;
  std::uint32_t total_ = 0;

 private:
  void change(Verdict verdict, Instant now) {
    if (ends_episode(verdict)) granted_ = false;
    if (verdict_ == Verdict::looping && is_trouble(verdict)) granted_ = true;
    if (is_trouble(verdict) && !is_trouble(verdict_) && now - calm_since_ >= 1800s) spent_ = 0;
    if (!is_trouble(verdict) && is_trouble(verdict_)) calm_since_ = now;
    verdict_ = verdict;
  }

  void attempt() {
    if (granted_) {
      granted_ = false;
      return;
    }
    ++spent_;
    ++total_;
  }

  std::uint32_t refills_ = 0;
  std::uint32_t life_ = 0;
  bool granted_ = false;
  Verdict verdict_ = Verdict::unknown;
  Instant calm_since_{};
};

RC_GTEST_PROP(Judge, keeps_its_budgets, (const Trace& trace)) {
  const Trace strict = without_excuses(trace);
  RC_PRE(!strict.events.empty());
  Witness witness;
  Account account;
  Manner manner;
  manner.watch = [&](const Look& look) {
    for (const Signal& signal : look.signals) witness.see(signal, look.now);
    account.look(witness, look);
    const Budget& budget = look.judge.policy().budget;
    RC_ASSERT(account.spent_ <= budget.between_refills);
    RC_ASSERT(account.total_ <= budget.per_agent);
  };
  judge_trace(strict, manner);
}

// ---- Episodes

RC_GTEST_PROP(Judge, takes_each_rung_once_in_an_episode, (const Trace& trace)) {
  Witness witness;
  std::uint32_t life = 0;
  Verdict verdict = Verdict::unknown;
  int pings = 0;
  int kills = 0;
  int attempts = 0;
  Manner manner;
  manner.watch = [&](const Look& look) {
    for (const Signal& signal : look.signals) witness.see(signal, look.now);
    const Verdict now = look.judge.verdict();
    const bool over = witness.life() != life || ends_episode(now);
    const bool held_long_enough = verdict == Verdict::looping && now != verdict;
    if (over) pings = 0;
    if (over || held_long_enough) kills = attempts = 0;
    life = witness.life();
    if (now != Verdict::unknown) verdict = now;
    for (const Decision& decision : look.outcome.decisions) {
      const bool action = decision.kind == Decision::Kind::action;
      pings += int{action && decision.action == Action::ping};
      kills += int{action && decision.action == Action::kill};
      attempts += int{is_attempt(decision)};
    }
    RC_ASSERT(pings <= 1);
    RC_ASSERT(kills <= 1);
    RC_ASSERT(attempts <= 1);
  };
  judge_trace(trace, manner);
}

RC_GTEST_PROP(Judge, does_not_bring_an_orphan_back, (const Trace& trace)) {
  Witness witness;
  std::optional<std::uint32_t> orphaned;  // the life that was
  Manner manner;
  manner.watch = [&](const Look& look) {
    for (const Signal& signal : look.signals) witness.see(signal, look.now);
    if (!witness.parent_is_dead()) orphaned.reset();
    if (look.judge.verdict() == Verdict::orphaned) orphaned = witness.life();
    if (orphaned != witness.life()) return;
    RC_ASSERT(std::ranges::none_of(look.outcome.decisions, is_attempt));
  };
  judge_trace(trace, manner);
}

// ---- Suspicion ends

/// The moments at which an agent became suspect for its silence alone.
std::vector<Instant> silence_became_suspect(const Trace& trace) {
  std::vector<Instant> moments;
  Witness witness;
  Manner manner;
  manner.watch = [&](const Look& look) {
    for (const Signal& signal : look.signals) witness.see(signal, look.now);
    const bool stores_disagree = witness.probe == ProcessState::stopped || witness.record ||
                                 witness.state == SelfState::stuck ||
                                 witness.state == SelfState::idle;
    if (stores_disagree || look.outcome.decisions.empty()) return;
    const Decision& first = look.outcome.decisions.front();
    const bool became = first.kind == Decision::Kind::verdict && first.verdict == Verdict::suspect;
    if (became) moments.push_back(look.now);
  };
  judge_trace(trace, manner);
  return moments;
}

/// The trace up to and with `last`.
Trace cut_after(const Trace& trace, Instant last) {
  Trace cut = trace;
  cut.events.clear();
  Instant at{trace.start};
  for (const Event& event : trace.events) {
    if (at + event.gap > last) break;
    at += event.gap;
    cut.events.push_back(event);
  }
  cut.tail = last - at;
  return cut;
}

/// Longer than any ceiling: twice a limit, which a declared silence may have doubled.
Duration longest_suspicion(const Trace& trace) {
  const Limits limits = built_in_policy(trace.policy)->limits;
  Duration longest = 600s;
  const auto consider = [&](Duration limit) {
    if (limit < kNoLimit) longest = std::max(longest, limit);
  };
  for (const LimitKey& key : kLimitKeys) consider(limits.*key.member);
  consider(limits.beats.stalled);
  for (const Event& event : trace.events) consider(event.signal.limit.value_or(0s) + 60s);
  return 4 * longest + limits.confirm;
}

RC_GTEST_PROP(Judge, does_not_suspect_for_ever, (const Trace& trace)) {
  const std::vector<Instant> moments = silence_became_suspect(trace);
  if (moments.empty()) return;
  Trace weak = cut_after(trace, *rc::gen::elementOf(moments));
  const Instant until = end_of(weak) + longest_suspicion(weak);
  const auto every = *rc::gen::element<Duration>(30s, 61s, 119s, 600s);
  const std::vector<Signal> signs{{.is = Kind::activity, .from = ActivityFrom::cpu},
                                  {.is = Kind::tool_beat, .id = "a"},
                                  {.is = Kind::error, .cause_word = "network"},
                                  {.is = Kind::beat, .by = BeatBy::keeper},
                                  {.is = Kind::other}};
  while (end_of(weak) < until) {
    const Duration gap = weak.tail + every;
    weak.tail = {};
    weak.events.push_back({.gap = gap, .signal = signs[weak.events.size() % signs.size()]});
  }
  Verdict last = Verdict::unknown;
  Manner manner;
  manner.watch = [&](const Look& look) { last = look.judge.verdict(); };
  judge_trace(weak, manner);
  RC_LOG() << to_json(weak);
  RC_ASSERT(last != Verdict::suspect);
}

}  // namespace
}  // namespace tend
