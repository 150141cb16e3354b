// One snapshot of a work tree: a row of git commands on a private index, each begun by the answer
// to the one before.
#pragma once

#include <functional>

#include "os/clock.h"
#include "os/process.h"
#include "os/version_control.h"

namespace tend {

/// As VersionControl::snapshot() promises. Taken back, it leaves no private index behind.
[[nodiscard]] Subscribed begin_git_snapshot(Processes& processes, Clock& clock, SnapshotOrder order,
                                            std::function<void(Result<Snapshot>)> done);

}  // namespace tend
