// Random but well-formed traces of any agent's life: all kinds of signals, gaps around the limits,
// several lives, sub-agents, children, holds, pauses, sleep. A counter-example shrinks to the few
// lines that matter and is shown as the contract's JSON lines, ready for `tend replay`.
#pragma once

#include <rapidcheck.h>

#include <iosfwd>
#include <vector>

#include "trace.h"

namespace tend {

/// About `size` events (0 to 100 gives 5 to 80).
Trace random_trace(const rc::Random& random, int size);

/// Simpler traces than this one, the boldest cuts first.
rc::Seq<Trace> simpler(const Trace& trace);

std::ostream& operator<<(std::ostream& out, const Trace& trace);
std::ostream& operator<<(std::ostream& out, const Place& place);

/// A few events that belong together, for mixing into another trace.
rc::Gen<std::vector<Event>> any_scene();

}  // namespace tend

template <>
struct rc::Arbitrary<tend::Trace> {
  static Gen<tend::Trace> arbitrary();
};

template <>
struct rc::Arbitrary<tend::Place> {
  static Gen<tend::Place> arbitrary();
};
