// The order of a replay: deadlines before a moment, its signals, its own deadlines.
#include "run/replay.h"

#include <utility>

#include "base/check.h"

namespace tend {

Result<Judge> first_judge(const TraceHeader& header, Policy policy) {
  if (header.judge.empty()) return Judge(std::move(policy));
  auto judge = Judge::restore(std::move(policy), header.judge);
  if (!judge) return fail("the judge in its header cannot be restored: " + judge.error().text);
  return judge;
}

Replay::Replay(Judge judge, Attendance& observer, DecisionSink& sink)
    : judge_(std::move(judge)), observer_(observer), sink_(sink), next_(judge_.next()) {}

void Replay::take(const Moment& moment) {
  run_to(moment.at - Duration{1});
  judge_at(moment);
}

void Replay::run_to(Instant last) {
  while (next_ && *next_ <= last && observer_.was_there(*next_)) step({}, *next_);
}

void Replay::step(std::span<const Signal> signals, Instant now) {
  const Outcome outcome = judge_.step(signals, now);
  next_ = outcome.next;
  CHECK(!next_ || *next_ > now);
  for (const Decision& decision : outcome.decisions) sink_.decided(now, decision);
}

}  // namespace tend
