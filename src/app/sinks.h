// What `tend beat` and `tend state` write into the stores of other systems. Every sink is tried,
// whatever became of the others, and each is told of by its name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "judge/words.h"
#include "os/process.h"
#include "os/world.h"
#include "store/foreign/foreign_agent.h"

namespace tend {

struct SinkDone {
  enum class How { written, left, failed };
  std::string sink;
  How how = How::written;
  std::string words;  // why it was left alone, or not written
};

/// `kept` is the process of the agent if Tend keeps it. An entry that names a process is written
/// only if that is this one, or is above us. A state is written where the store has one.
std::vector<SinkDone> beat_sinks(World& world, const ForeignAgent& agent,
                                 const std::optional<ProcessId>& kept,
                                 const std::optional<SelfState>& state);

/// Those of the agent that we are inside of.
Result<std::vector<SinkDone>> beat_own_sinks(World& world, const std::optional<SelfState>& state);
/// Those of an agent of the configuration that Tend does not keep.
Result<std::vector<SinkDone>> beat_sinks_of(World& world, const std::string& name,
                                            const std::optional<SelfState>& state);

}  // namespace tend
