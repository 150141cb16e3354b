// Compares three clocks with what they said at the last look.
#include "run/own_pauses.h"

#include <algorithm>

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

Instant OwnPauses::look(SignalBatch& batch, bool& late) {
  const Instant now = clock_.now();
  const Duration awake = clock_.awake();
  const WallTime wall = clock_.wall();
  const Duration passed = now - now_;
  const Duration slept = passed - (awake - awake_);
  const Duration stepped = std::chrono::duration_cast<Duration>(wall - wall_) - passed;
  now_ = now;
  awake_ = awake;
  wall_ = wall;

  late = false;
  if (slept >= kSleep) {
    batch.signals.push_back(of(Kind::suspend, slept));
    late = true;
  }
  if (stepped >= kClockStep || stepped <= -kClockStep) {
    batch.signals.push_back(of(Kind::clock_step, stepped));
  }
  const Duration behind = expected_ ? now - *expected_ - std::max(slept, 0ms) : 0ms;
  if (behind > kLate) {
    // One more, so that the deadline itself lies inside what the line says.
    batch.signals.push_back(of(Kind::lag, behind + 1ms));
    late = true;
  }
  return now;
}

}  // namespace tend
