// The reasons behind a verdict: the decisive one first, then what supports it.
#pragma once

#include "judge/decision.h"
#include "judge/finding.h"
#include "judge/ladder.h"

namespace tend {

/// Fills the reasons of a decision about `verdict`.
void explain(const Scene& scene, const Ladder& ladder, Verdict verdict, Decision& decision);

}  // namespace tend
