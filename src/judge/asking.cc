// See asking.h.
#include "judge/asking.h"

#include <algorithm>

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kIsReady = 10s;      // one that has stirred, and shows nothing more
constexpr Duration kHasBegun = 30s;     // one that shows nothing may have begun all the same
constexpr Duration kAfterOutage = 60s;  // between two questions to one that was down

}  // namespace

std::optional<Duration> next_question(const Asking& asking, std::optional<Duration> asked_ago,
                                      bool degraded, const AskingPace& pace) {
  if (!asking.possible) return std::nullopt;
  if (asking.open) {
    // It works and does not answer: asked once more when its time is over.
    if (!asking.overtaken) return std::nullopt;
    return std::max(pace.answer - asking.open_for, pace.interval - asking.silent);
  }
  if (!asked_ago && pace.waits_for_us) return Duration{};
  const Duration ready = asking.seen ? Duration{} : asking.stirs ? kIsReady : kHasBegun;
  if (degraded && asked_ago) return kAfterOutage - *asked_ago;
  if (degraded) return ready - asking.silent;
  const Duration by_silence = std::max(pace.interval, ready) - asking.silent;
  return asked_ago ? std::max(by_silence, pace.interval - *asked_ago) : by_silence;
}

}  // namespace tend
