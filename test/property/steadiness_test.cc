// What must make no difference to the judge: signals that prove nothing, old lives, when the trace
// began, how often it is looked at, a snapshot in between.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <ranges>
#include <string>

#include "driver.h"
#include "random_trace.h"
#include "witness.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

std::string difference(const Trace& a, const Trace& b) {
  return difference(a, judge_trace(a), b, judge_trace(b));
}

/// What can be known after the first `n` events.
Witness witness_of(const Trace& trace, std::size_t n) {
  Witness witness;
  for (const Line& line : lines(trace) | std::views::take(n)) witness.see(line.signal, line.at);
  return witness;
}

/// True if the signal proves nothing to somebody who knows what the witness knows.
bool proves_nothing(const Signal& signal, const Witness& witness) {
  switch (signal.is) {
    case Kind::noise:
    case Kind::clock_step:
    case Kind::acted:
      return true;
    case Kind::fleet:
      return signal.count == 0;
    case Kind::beat:
      return signal.by != BeatBy::agent;
    case Kind::process:
      return witness.probe == signal.process && signal.exit.how == Exit::How::unknown;
    case Kind::status:
      return signal.status == Status::running &&
             (!witness.record || witness.record == Status::running);
    default:
      return false;
  }
}

rc::Gen<Signal> signal_that_may_prove_nothing() {
  std::vector<Signal> signals{
      {.is = Kind::noise},
      {.is = Kind::acted},
      {.is = Kind::fleet, .count = 0, .of = 9},
      {.is = Kind::status, .status = Status::running},
      {.is = Kind::beat, .by = BeatBy::keeper},
      {.is = Kind::beat, .by = BeatBy::other},
      {.is = Kind::clock_step, .seconds = 3600s},
  };
  for (std::size_t i = 0; i < kProcessStateWords.size(); ++i) {
    signals.push_back({.is = Kind::process, .process = static_cast<ProcessState>(i)});
  }
  return rc::gen::elementOf(signals);
}

RC_GTEST_PROP(Judge, is_not_impressed_by_signals_that_prove_nothing,
              (const Trace& trace, const std::vector<Place>& places)) {
  Trace mixed = trace;
  for (const Place& place : places) {
    const Signal signal = *signal_that_may_prove_nothing();
    const Witness witness = witness_of(mixed, index_of(mixed, place) + 1);
    if (proves_nothing(signal, witness)) insert(mixed, place, {.signal = signal});
  }
  RC_LOG() << to_json(mixed);
  RC_ASSERT(difference(trace, mixed) == "");
}

RC_GTEST_PROP(Judge, does_not_miss_signals_that_prove_nothing, (const Trace& trace)) {
  Trace thinned = trace;
  for (std::size_t i = thinned.events.size(); i-- > 1;) {
    if (proves_nothing(thinned.events[i].signal, witness_of(thinned, i))) erase(thinned, i);
  }
  RC_LOG() << to_json(thinned);
  RC_ASSERT(difference(trace, thinned) == "");
}

RC_GTEST_PROP(Judge, does_not_hear_older_lives,
              (const Trace& trace, const std::vector<Place>& places)) {
  Trace mixed = trace;
  for (const Place& place : places) {
    for (Event event : *any_scene()) {
      if (away(event.signal) > 0s) continue;
      event.life = Of::older;
      if (witness_of(mixed, index_of(mixed, place) + 1).life() >= 2) insert(mixed, place, event);
    }
  }
  RC_LOG() << to_json(mixed);
  RC_ASSERT(difference(trace, mixed) == "");
}

RC_GTEST_PROP(Judge, does_not_care_about_steps_of_the_wall_clock,
              (const Trace& trace, const std::vector<Place>& places)) {
  Trace mixed = trace;
  for (const Place& place : places) {
    const auto step = *rc::gen::element<Duration>(-100'000s, -1s, 1s, 3600s, 1'000'000s);
    insert(mixed, place, {.signal = {.is = Kind::clock_step, .seconds = step}});
  }
  RC_ASSERT(difference(trace, mixed) == "");
}

RC_GTEST_PROP(Judge, does_not_care_when_the_trace_began, (const Trace& trace)) {
  Trace later = trace;
  later.start = *rc::gen::element<Duration>(1ms, 1s, 59s, 720s, 86'400s, 2'000'000'000s);
  RC_LOG() << "start: " << later.start.count() << " ms";
  RC_ASSERT(difference(trace, later) == "");
}

RC_GTEST_PROP(Judge, goes_on_from_a_snapshot_as_if_nothing_had_been, (const Trace& trace)) {
  Manner manner;
  manner.through_snapshots = true;
  RC_ASSERT(difference(trace, judge_trace(trace), trace, judge_trace(trace, manner)) == "");
}

RC_GTEST_PROP(Judge, decides_the_same_however_often_it_looks, (const Trace& trace)) {
  const auto length = (end_of(trace) - Instant{trace.start}).count();
  const auto looks = *rc::gen::container<std::vector<std::int64_t>>(
      rc::gen::inRange<std::int64_t>(0, std::max<std::int64_t>(1, length)));
  Manner manner;
  for (const Line& line : lines(trace)) manner.extra_looks.push_back(line.at);
  const Instant first = manner.extra_looks.front();
  for (const std::int64_t look : looks) {
    manner.extra_looks.push_back(std::max(first, Instant{trace.start} + Duration{look}));
  }
  RC_ASSERT(difference(trace, judge_trace(trace), trace, judge_trace(trace, manner)) == "");
}

RC_GTEST_PROP(Judge, gives_the_same_bytes_for_the_same_input, (const Trace& trace)) {
  std::string snapshots[2];
  for (std::string& snapshot : snapshots) {
    Manner manner;
    manner.watch = [&](const Look& look) { snapshot += look.judge.snapshot() + "\n"; };
    judge_trace(trace, manner);
  }
  RC_ASSERT(snapshots[0] == snapshots[1]);
  RC_ASSERT(difference(trace, trace) == "");
}

}  // namespace
}  // namespace tend
