// See witness.h.
#include "witness.h"

#include <algorithm>
#include <iterator>

namespace tend {

namespace {

using namespace std::chrono_literals;

constexpr Duration kLagForgiven = 30s;
constexpr Duration kToolSlack = 60s;
constexpr Duration kShortestWait = 60s;  // everything awaited has ended
constexpr Duration kAfterHold = 120s;
constexpr Duration kFinalError = 120s;
constexpr std::uint32_t kCircle = 3;
constexpr std::uint32_t kSmallestFleet = 3;

bool is_of_stream(Kind kind) {
  switch (kind) {
    case Kind::progress:
    case Kind::tool_open:
    case Kind::tool_beat:
    case Kind::tool_close:
    case Kind::compact_start:
    case Kind::compact_end:
    case Kind::retry:
    case Kind::ask:
    case Kind::answer:
    case Kind::turn_start:
    case Kind::turn_end:
      return true;
    default:
      return false;
  }
}

bool has_ended(Verdict verdict) {
  return verdict == Verdict::finished || verdict == Verdict::dead || verdict == Verdict::idle ||
         verdict == Verdict::orphaned;
}

}  // namespace

void Witness::see(const Signal& signal, Instant at) {
  if (signal.life != 0 && signal.life < life_) return;
  if (is_surely_real(signal)) {
    last_real_ = at;
    final_error_ = false;
  }
  if (is_of_stream(signal.is)) {
    stream_seen_ = true;
    last_stream_ = at;
  }
  see_others(signal, at);
  see_probe(signal, at);
}

void Witness::begin_life(const Signal& signal) {
  if (signal.life != 0 && signal.life == life_) return;
  Witness next;
  next.life_ = signal.life != 0 ? signal.life : life_ + 1;
  next.want = want == Want::pause ? Want::pause : Want::run;
  next.unfit_at = unfit_at;
  next.fleet_at = fleet_at;
  next.refills = refills;
  *this = next;
}

bool Witness::is_surely_real(const Signal& signal) const {
  switch (signal.is) {
    case Kind::tool_open:
      return !circled_;
    case Kind::tool_close:
      return !circled_ && signal.same < kCircle;
    case Kind::state:
      return state != signal.state;
    case Kind::activity:
      return signal.from == ActivityFrom::files;
    case Kind::task:
      return signal.event == TaskEvent::beat;
    case Kind::tool_beat:
      return false;
    default:
      return is_of_stream(signal.is);
  }
}

void Witness::see_others(const Signal& signal, Instant at) {
  switch (signal.is) {
    case Kind::spawn:
      return begin_life(signal);
    case Kind::process:
      if (signal.process != ProcessState::unknown || !gone()) probe = signal.process;
      return;
    case Kind::status:
      record = signal.status;
      return;
    case Kind::state:
      state = signal.state;
      return;
    case Kind::error:
      final_error_ = final_error_ || signal.final;
      return;
    case Kind::tool_open:
      if (signal.limit)
        shortest_tool_ = std::min(shortest_tool_.value_or(*signal.limit), *signal.limit);
      return;
    case Kind::tool_close:
      circled_ = circled_ || signal.same >= kCircle;
      return;
    case Kind::child:
      children_[signal.child] = signal.verdict;
      return;
    case Kind::task:
      if (signal.event == TaskEvent::close || signal.event == TaskEvent::advance) ++refills;
      return;
    case Kind::parent:
      if (signal.parent != ParentState::dead) {
        parent_died_.reset();
      } else if (!parent_died_) {
        parent_died_ = at;
      }
      return;
    case Kind::intent:
      if (want != signal.want) wanted_ = at;
      want = signal.want;
      return;
    case Kind::suspend:
    case Kind::fault:
      unfit_at = at;
      return;
    case Kind::lag:
      if (signal.seconds > kLagForgiven) unfit_at = at;
      return;
    case Kind::fleet:
      if (signal.count >= kSmallestFleet && 2 * signal.count >= signal.of) fleet_at = at;
      return;
    default:
      return;
  }
}

void Witness::see_probe(const Signal& signal, Instant at) {
  switch (signal.is) {
    case Kind::beat:
      if (signal.by != BeatBy::agent) return;
      beat_ = at;
      beat_failed_ = false;
      return;
    case Kind::beat_failed:
      beat_failed_ = true;
      return;
    case Kind::ping:
      pings_.emplace_back(signal.id, at);
      return;
    case Kind::ping_failed: {
      const auto last = std::find_if(pings_.rbegin(), pings_.rend(),
                                     [&](const auto& ping) { return ping.first == signal.id; });
      if (last != pings_.rend()) pings_.erase(std::next(last).base());
      return;
    }
    default:
      return;  // an ack counts for nothing here: which pings it answers is a finer point
  }
}

bool Witness::orphaned_past_grace(const Limits& limits, Instant now) const {
  return parent_died_ && now >= *parent_died_ + limits.orphan + limits.grace;
}

int Witness::planes_at_most(Phase phase, const Limits& limits, Instant now) const {
  const bool process = probe == ProcessState::running || probe == ProcessState::stopped;
  const bool stream = stream_agrees(phase, limits, now);
  const bool beats = beat_ && !beat_failed_ && now >= *beat_ + limits.beats.suspect;
  const bool unanswered = std::ranges::any_of(
      pings_, [&](const auto& ping) { return now >= ping.second + limits.confirm; });
  const bool disobeys = want == Want::stop && now >= wanted_ + limits.exiting;
  const bool self = state == SelfState::stuck || unanswered || disobeys;
  const bool children = !children_.empty() && std::ranges::all_of(children_, [](const auto& child) {
    return has_ended(child.second);
  });
  return int{process} + int{stream} + int{beats} + int{self} + int{children};
}

bool Witness::stream_agrees(Phase phase, const Limits& limits, Instant now) const {
  if (!stream_seen_) return phase == Phase::start;
  // Nothing renews `exiting`: there the stream itself has to be silent.
  const auto last = phase == Phase::exiting ? last_stream_ : last_real_;
  return !last || now >= *last + least_limit(phase, limits);
}

Duration Witness::least_limit(Phase phase, const Limits& limits) const {
  const Duration most = final_error_ ? kFinalError : kNoLimit;
  switch (phase) {
    case Phase::start:
      return std::min(most, limits.start);
    case Phase::model:
      return std::min(most, limits.model);
    case Phase::tool:
      return std::min({most, limits.tool, shortest_tool_.value_or(kNoLimit) + kToolSlack});
    case Phase::compact:
      return std::min(most, limits.compact);
    case Phase::retry:
      return kAfterHold;
    case Phase::idle:
      return limits.idle;
    case Phase::exiting:
      return limits.exiting;
    case Phase::beats:
      return std::min(most, limits.beats.suspect);
    case Phase::person:
    case Phase::children:
    case Phase::background:
      return kShortestWait;
  }
  return kNoLimit;
}

}  // namespace tend
