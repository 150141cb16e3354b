// The label `heartbeat:<epoch>` of a work item, which only the program of its system can set: asked
// for, set, and asked for again.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "base/time.h"
#include "os/machine.h"
#include "store/foreign/foreign_store.h"

namespace tend {

struct LabelBeat {
  std::int64_t epoch = 0;  // what the label says now
  Duration fresh{};        // it was left alone, and is for so much longer; zero: it was set
};

/// A label that is younger than `refresh_after` is left alone: for many systems each change is a
/// commit. Fails if the command does not answer, or afterwards does not show what was set.
/// REQUIRES a label that can be set.
Result<LabelBeat> beat_label(Machine& machine, const ForeignStore& store, Duration refresh_after);

}  // namespace tend
