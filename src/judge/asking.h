// When an agent is asked whether it still answers. A busy one is never asked: only who showed
// nothing for an interval, and could answer. Never are two questions open; who was down is asked at
// once, for it takes no messages before it has answered.
#pragma once

#include <optional>

#include "base/time.h"
#include "judge/judge.h"

namespace tend {

struct AskingPace {
  Duration interval{};        // of silence, after which it is asked
  Duration answer{};          // how long it may take
  bool waits_for_us = false;  // it does nothing before it was spoken to
};

/// How long until it is asked, if nothing new is seen; not above zero: now. Nothing: not before
/// something is. `asked_ago`: since the last question of this life, none if there was none.
std::optional<Duration> next_question(const Asking& asking, std::optional<Duration> asked_ago,
                                      bool degraded, const AskingPace& pace);

}  // namespace tend
