// Whichever deadline comes first, both judges stand at that time.
#include "run/twin_replay.h"

#include <algorithm>
#include <utility>

namespace tend {

TwinReplay::TwinReplay(Judge first, Judge second, Attendance& observer, TwinSink& sink)
    : first_(std::move(first), observer, first_decisions_),
      second_(std::move(second), observer, second_decisions_),
      observer_(observer),
      sink_(sink) {}

void TwinReplay::take(const Moment& moment) {
  run_to(moment.at - Duration{1});
  first_.judge_at(moment);
  second_.judge_at(moment);
  tell(moment.at);
}

void TwinReplay::run_to(Instant last) {
  while (true) {
    const Instant due =
        std::min(first_.next().value_or(Instant::max()), second_.next().value_or(Instant::max()));
    if (due > last || !observer_.was_there(due)) return;
    first_.run_to(due);
    second_.run_to(due);
    tell(due);
  }
}

void TwinReplay::tell(Instant at) {
  if (first_decisions_.decisions.empty() && second_decisions_.decisions.empty()) return;
  sink_.decided(at, first_decisions_.decisions, second_decisions_.decisions);
  first_decisions_.decisions.clear();
  second_decisions_.decisions.clear();
}

}  // namespace tend
