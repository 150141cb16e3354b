// Steps a judge through a trace as `tend replay` does, and keeps what it decided. A test may look
// more often than needed, put a snapshot between any two steps, or watch every step.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "judge/decision.h"
#include "judge/judge.h"
#include "trace.h"

namespace tend {

struct Decided {
  Instant at{};
  Decision decision;

  [[nodiscard]] bool is_verdict() const { return decision.kind == Decision::Kind::verdict; }
};

/// One call of Judge::step().
struct Look {
  Instant now{};
  std::span<const Signal> signals;
  const Outcome& outcome;
  const Judge& judge;
};

struct Manner {
  /// At each of these times two steps that should change nothing: an empty one, and one that says
  /// the fleet is well. Those inside the observer's absence are left out.
  std::vector<Instant> extra_looks{};
  bool through_snapshots = false;  // each step is taken by a judge restored from a snapshot
  std::function<void(const Look&)> watch{};
};

std::vector<Decided> judge_trace(const Trace& trace, const Manner& manner = {});

/// Words for one decision: "t=732 kill under stalled in model: silent 720 s ...". Times count from
/// the start of the trace.
std::string describe(const Decided& decided, Instant start);

/// Empty if both decided the same at the same times since their starts; else the first difference.
std::string difference(const Trace& a, const std::vector<Decided>& decided_a, const Trace& b,
                       const std::vector<Decided>& decided_b);

}  // namespace tend
