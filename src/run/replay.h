// Drives a judge through recorded moments as an observer would have: at every signal, and at every
// deadline the judge named, except those inside a sleep or a lag of the observer.
#pragma once

#include <optional>
#include <span>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "judge/decision.h"
#include "judge/judge.h"
#include "judge/policy.h"
#include "judge/signal.h"
#include "sense/attendance.h"
#include "sense/trace_header.h"
#include "sense/trace_reader.h"

namespace tend {

/// Hears what is decided, in the order of time.
class DecisionSink {
 public:
  virtual ~DecisionSink() = default;
  virtual void decided(Instant at, const Decision& decision) = 0;
};

/// The judge that a trace begins with: the one whose snapshot its header carries, or a new one. It
/// fails on a snapshot that cannot be used.
Result<Judge> first_judge(const TraceHeader& header, Policy policy);

class Replay {
 public:
  /// A judge that was restored goes on from the deadline it had named.
  Replay(Judge judge, Attendance& observer, DecisionSink& sink);

  /// Judges at the deadlines before the moment, then at the moment, whose own deadlines come after
  /// its signals. Requires that moments come in the order of their times.
  void take(const Moment& moment);

  /// Judges at every deadline up to `last`, itself included.
  void run_to(Instant last);

  /// Judges at the moment, and at no deadline before it.
  void judge_at(const Moment& moment) { step(moment.signals, moment.at); }

  /// The deadline that the judge named last.
  [[nodiscard]] std::optional<Instant> next() const { return next_; }
  [[nodiscard]] const Judge& judge() const { return judge_; }
  /// The judge as it stands; nothing can be replayed after it.
  [[nodiscard]] Judge take_judge() && { return std::move(judge_); }

 private:
  void step(std::span<const Signal> signals, Instant now);

  Judge judge_;
  Attendance& observer_;
  DecisionSink& sink_;
  std::optional<Instant> next_;
};

}  // namespace tend
