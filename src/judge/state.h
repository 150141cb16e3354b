// The whole state of a judge in one place: what a snapshot writes and reads back.
#pragma once

#include <optional>
#include <vector>

#include "judge/clocks.h"
#include "judge/decision.h"
#include "judge/evidence.h"
#include "judge/finding.h"
#include "judge/fitness.h"
#include "judge/ladder.h"
#include "judge/policy.h"

namespace tend {

struct JudgeState {
  Policy policy;

  Clocks clocks;
  Evidence evidence;
  Exiting exiting;
  Fitness fitness;
  Watch watch;
  Ladder ladder;
  Verdict verdict = Verdict::unknown;
  Phase phase = Phase::start;
  bool stepped = false;
  std::optional<Instant> next;  // the deadline that the last step named

  std::vector<Decision> decisions;  // of the last step; no part of a snapshot
};

}  // namespace tend
