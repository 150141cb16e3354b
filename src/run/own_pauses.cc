// Compares three clocks with what they said at the last look.
#include "run/own_pauses.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kSleep = 1s;      // less is the clocks' own difference
constexpr Duration kClockStep = 2s;  // less is a clock being disciplined

Signal of(Kind kind, Duration seconds) {
  Signal signal;
  signal.is = kind;
  signal.seconds = seconds;
  return signal;
}

}  // namespace

OwnPauses::OwnPauses(Clock& clock)
    : clock_(clock), now_(clock.now()), awake_(clock.awake()), wall_(clock.wall()) {}

OwnPauses::Found OwnPauses::compare(Instant now, Duration awake) const {
  const Duration lost = (now - now_) - (awake - awake_);
  const Duration slept = lost >= kSleep ? lost : 0ms;
  const Duration behind = expected_ ? now - *expected_ : 0ms;
  // Where a sleep came before the time at which we were to wake, that time lies outside of what the
  // sleep's own line covers.
  const bool is_late = behind - slept > kLate || (slept > 0ms && behind >= slept);
  return {.slept = slept, .behind = behind, .is_late = is_late};
}

bool OwnPauses::have_been() const {
  const Found found = compare(clock_.now(), clock_.awake());
  return found.is_late || found.slept > 0ms;
}

Instant OwnPauses::look(SignalBatch& batch) {
  const Instant now = clock_.now();
  const Duration awake = clock_.awake();
  const WallTime wall = clock_.wall();
  const auto [slept, behind, is_late] = compare(now, awake);
  const Duration stepped = std::chrono::duration_cast<Duration>(wall - wall_) - (now - now_);
  now_ = now;
  awake_ = awake;
  wall_ = wall;

  // One more, so that the deadline itself lies inside what the line says.
  if (is_late) batch.signals.push_back(of(Kind::lag, behind + 1ms));
  if (slept > 0ms) batch.signals.push_back(of(Kind::suspend, slept));
  if (stepped >= kClockStep || stepped <= -kClockStep) {
    batch.signals.push_back(of(Kind::clock_step, stepped));
  }
  return now;
}

}  // namespace tend
