// The rules of the observer's fitness; see fitness.h.
#include "judge/fitness.h"

namespace tend {

namespace {

using namespace std::chrono_literals;

constexpr Duration kLookAgain = 60s;         // unfit for this long after the last such line
constexpr Duration kLagForgiven = 30s;       // a lag up to this makes nobody unfit
constexpr Duration kFleetExcuses = 300s;     // a silent fleet excuses for this long on end
constexpr std::uint32_t kSmallestFleet = 3;  // fewer silent agents are no fleet

}  // namespace

void Fitness::unfit(Unfit cause, const Clocks& clocks) {
  unfit_until_ = clocks.awake() + kLookAgain;
  cause_ = cause;
}

void Fitness::absorb(const Signal& signal, const Clocks& clocks) {
  switch (signal.is) {
    case Kind::suspend:
      unfit(Unfit::suspend, clocks);
      break;
    case Kind::lag:
      if (signal.seconds > kLagForgiven) unfit(Unfit::lag, clocks);
      break;
    case Kind::fault:
      unfit(Unfit::fault, clocks);
      break;
    case Kind::fleet: {
      const bool half = 2ULL * signal.count >= signal.of;
      if (signal.count < kSmallestFleet || !half) break;
      const bool goes_on = fleet_from_ && clocks.awake() <= fleet_last_ + kLookAgain;
      if (!goes_on) fleet_from_ = clocks.awake();
      fleet_last_ = clocks.awake();
      fleet_silent_ = signal.count;
      fleet_of_ = signal.of;
      break;
    }
    default:
      break;
  }
}

Unfit Fitness::look(Horizon& horizon) const {
  if (unfit_until_ && !horizon.due(*unfit_until_)) return cause_;
  if (fleet_from_ && !horizon.due(*fleet_from_ + kFleetExcuses) && fleet_is_silent(horizon)) {
    return Unfit::fleet;
  }
  return Unfit::fit;
}

bool Fitness::fleet_is_silent(Horizon& horizon) const {
  return fleet_from_ && !horizon.due(fleet_last_ + kLookAgain);
}

}  // namespace tend
