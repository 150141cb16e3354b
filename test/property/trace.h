// A trace as a value that can be cut, stretched and mixed: each event knows only how long after the
// one before it was seen. Times, lives and `until` become absolute when the trace is written out,
// so that an event can be removed or added anywhere and the rest stays a well-formed trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/signal.h"

namespace tend {

/// The life that a line names.
enum class Of : std::uint8_t { unsaid, current, older, next };

struct Event {
  Duration gap{};                 // since the event before it
  Signal signal;                  // texts are literals; `life` and `until` are filled in by lines()
  std::optional<Duration> until;  // from its own time on
  Of life = Of::unsaid;
};

struct Trace {
  std::string_view policy = "agent";
  Duration start{};
  std::vector<Event> events;
  Duration tail{};  // judged on for so long after the last event
};

/// An event with its time, its life and its `until`.
struct Line {
  Instant at{};
  Signal signal;
};

std::vector<Line> lines(const Trace& trace);
Instant end_of(const Trace& trace);

/// How long the observer did not run before this line.
Duration away(const Signal& signal);

/// A point in a trace: after an event, some way into the time before the next one.
struct Place {
  std::uint32_t after = 0;     // counted around
  std::uint32_t permille = 0;  // of the free time that follows
};
std::size_t index_of(const Trace& trace, Place place);

/// Adds an event at the place; its gap is set, and no other event changes its time. It never lies
/// inside the observer's absence.
void insert(Trace& trace, Place place, Event event);

/// Removes an event; the others keep their times.
void erase(Trace& trace, std::size_t index);

/// The contract's JSON lines, header included: what `tend replay` reads.
std::string to_json(const Trace& trace);

}  // namespace tend
