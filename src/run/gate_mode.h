// Whether an agent is down, so that whoever writes to it is told so. It is read from its folder at
// every message: there is no flag that somebody could forget.
//
//   its keeper is there     what the keeper says: `degraded_since` in the heartbeat
//   nobody keeps it         down only if its process is proven gone and its work is not over
//   it cannot be looked at  not down
#pragma once

#include <string>

#include "base/time.h"
#include "os/machine.h"

namespace tend {

struct GateMode {
  bool down = false;
  bool kept = false;     // the word of its keeper
  bool over = false;     // its work has ended: nobody will come for its messages
  std::string why;       // it is down, on one line
  WallTime since{};      // it is down; 1970: not known
  bool looping = false;  // it is not started any more, until a person says so
};

GateMode gate_mode_of(Machine& machine, Folder& agent);

}  // namespace tend
