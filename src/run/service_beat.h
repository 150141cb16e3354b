// One beat for one process, written into one store of another system: its own entry and no other,
// and only while that very process lives.
#pragma once

#include <string>

#include "os/machine.h"
#include "store/foreign/foreign_agent.h"

namespace tend {

/// Whom the beat is of. `id` is how its registry calls it; a lease is known by that alone.
struct BeatFor {
  ProcessId process;
  std::string id;
};

struct PartDone {
  std::string name;
  std::string problem;  // "": written, or fresh enough to be left alone
  bool busy = false;    // others hold its lock: worth another try in a moment
  Duration again_in{};  // when the next one is due at the latest; 0: no matter
};

/// Takes from a registry what its entry calls the process, if that is not known yet.
PartDone beat_store(Machine& machine, const AgentStore& store, BeatFor& whom);

}  // namespace tend
