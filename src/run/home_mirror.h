// The folder that `mirror` of [gate] names: what other tools read of all agents of a home that have
// no parent. Whoever has news of one of them writes for all.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "os/machine.h"
#include "store/gate.h"

namespace tend {

/// `own` is what the caller knows of its agent: nothing if that is well, or over.
Result<void> mirror_home(Machine& machine, Folder& home, const std::string& path,
                         const std::string& agent, const std::optional<Outage>& own);

}  // namespace tend
