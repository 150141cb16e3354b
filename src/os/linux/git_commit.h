// One commit of all that is in a work tree, on the branch that is checked out.
#pragma once

#include <functional>

#include "os/clock.h"
#include "os/process.h"
#include "os/version_control.h"

namespace tend {

/// As VersionControl::commit() promises.
[[nodiscard]] Subscribed begin_git_commit(Processes& processes, Clock& clock, CommitOrder order,
                                          std::function<void(Result<Committed>)> done);

}  // namespace tend
