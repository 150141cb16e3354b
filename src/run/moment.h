// For commands that look again and again: time passes, and whatever happens meanwhile is handled.
#pragma once

#include "base/time.h"
#include "os/machine.h"

namespace tend {

/// Runs the machine's loop for as long.
inline void let_pass(Machine& machine, Duration time) {
  const auto timer = machine.loop.at(machine.clock.now() + time, [&] { machine.loop.stop(); });
  machine.loop.run();
}

}  // namespace tend
