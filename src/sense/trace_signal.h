// From the fields of a trace line to the signal they mean. Where a line says too little:
//   an unknown `is`; a status, state, parent,   Kind::other, which is weak activity
//     intent or task whose word is unknown;
//     a child without a name, an inbox without
//     a number
//   an unknown word elsewhere                   the one that proves least: process and child
//                                               `unknown`, beat by `other`, activity from `log`
//   an unknown cause                            Cause::another; the word itself is kept
//   a number out of range                       the nearest one in range
//   a field of the wrong type                   as if it were not there
#pragma once

#include "judge/signal.h"
#include "sense/trace_fields.h"

namespace tend {

/// Makes the signal of a line that `is` something. Its texts are those of the fields.
void make_signal(const TraceFields& fields, Signal& signal);

}  // namespace tend
