// What the judge must never do, whatever was seen.
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

/// Calls `check(witness, look)` after every step, the witness having seen all that the judge saw.
template <class Check>
void witnessed(const Trace& trace, Check check) {
  Witness witness;
  Manner manner;
  manner.watch = [&](const Look& look) {
    for (const Signal& signal : look.signals) witness.see(signal, look.now);
    check(witness, look);
  };
  judge_trace(trace, manner);
}

bool is_action(const Decision& decision) { return decision.kind == Decision::Kind::action; }

bool is_destructive(const Decision& decision) {
  return is_action(decision) && tend::is_destructive(decision.action);
}

RC_GTEST_PROP(Judge, destroys_nothing_without_the_kernels_word_or_two_planes,
              (const Trace& trace)) {
  witnessed(trace, [](const Witness& witness, const Look& look) {
    const Limits& limits = look.judge.policy().limits;
    for (const Decision& decision : look.outcome.decisions) {
      if (!is_destructive(decision) || witness.gone()) continue;
      const bool orphan = decision.action == Action::kill &&
                          decision.verdict == Verdict::orphaned &&
                          witness.orphaned_past_grace(limits, look.now);
      if (orphan) continue;
      RC_LOG() << describe(Decided{look.now, decision}, Instant{});
      RC_ASSERT(witness.planes_at_most(decision.phase, limits, look.now) >= 2);
    }
  });
}

RC_GTEST_PROP(Judge, preserves_directly_before_it_destroys, (const Trace& trace)) {
  witnessed(trace, [](const Witness&, const Look& look) {
    const auto decisions = look.outcome.decisions;
    const auto first = std::ranges::find_if(decisions, is_destructive);
    if (first == decisions.end()) return;
    RC_ASSERT(first != decisions.begin());
    const Decision& before = *(first - 1);
    RC_ASSERT(is_action(before));
    RC_ASSERT(before.action == Action::preserve);
  });
}

RC_GTEST_PROP(Judge, calls_nobody_dead_without_the_kernels_word, (const Trace& trace)) {
  witnessed(trace, [](const Witness& witness, const Look& look) {
    if (look.judge.verdict() == Verdict::dead) RC_ASSERT(witness.gone());
  });
}

RC_GTEST_PROP(Judge, destroys_nothing_within_60_s_of_its_own_pause, (const Trace& trace)) {
  witnessed(trace, [](const Witness& witness, const Look& look) {
    if (!witness.unfit_at || look.now >= *witness.unfit_at + 60s) return;
    RC_ASSERT(std::ranges::none_of(look.outcome.decisions, is_destructive));
  });
}

RC_GTEST_PROP(Judge, kills_nobody_while_the_fleet_is_silent, (const Trace& trace)) {
  witnessed(trace, [](const Witness& witness, const Look& look) {
    if (!witness.fleet_at || look.now >= *witness.fleet_at + 60s) return;
    for (const Decision& decision : look.outcome.decisions) {
      RC_ASSERT((!is_action(decision) || decision.action != Action::kill));
    }
  });
}

/// The gate follows the verdict, an adoption and a notice about the observer itself are no deeds
/// to the agent: all else waits.
bool may_happen_in_a_pause(const Decision& decision) {
  switch (decision.action) {
    case Action::degrade:
    case Action::undegrade:
    case Action::adopt:
      return true;
    case Action::notify:
      return decision.because()[0].because == Because::observer_unfit;
    default:
      return false;
  }
}

RC_GTEST_PROP(Judge, does_nothing_while_paused, (const Trace& trace)) {
  witnessed(trace, [](const Witness& witness, const Look& look) {
    if (!witness.paused()) return;
    for (const Decision& decision : look.outcome.decisions) {
      RC_ASSERT((!is_action(decision) || may_happen_in_a_pause(decision)));
    }
  });
}

RC_GTEST_PROP(Judge, has_exactly_one_verdict_and_words_for_it, (const Trace& trace)) {
  std::optional<Verdict> before;
  witnessed(trace, [&](const Witness&, const Look& look) {
    RC_ASSERT((!look.outcome.next || *look.outcome.next > look.now));
    std::size_t changes = 0;
    for (const Decision& decision : look.outcome.decisions) {
      RC_ASSERT(!decision.because().empty());
      for (const Reason& reason : decision.because()) RC_ASSERT(!describe(reason).empty());
      if (is_action(decision)) {
        RC_ASSERT(decision.because().size() == 1U);
        continue;
      }
      ++changes;
      RC_ASSERT((!before || decision.verdict != *before));
      RC_ASSERT(decision.verdict == look.judge.verdict());
    }
    RC_ASSERT(changes <= 1U);
    RC_ASSERT((changes == 1U || before == look.judge.verdict()));
    before = look.judge.verdict();
  });
}

}  // namespace
}  // namespace tend
