// Bringing a commit into a work tree, and taking back what was left of that.
#pragma once

#include <functional>
#include <string>

#include "os/clock.h"
#include "os/process.h"
#include "os/version_control.h"

namespace tend {

/// As VersionControl::merge() promises.
[[nodiscard]] Subscribed begin_git_merge(Processes& processes, Clock& clock, MergeOrder order,
                                         std::function<void(Result<Merged>)> done);
[[nodiscard]] Subscribed begin_git_abort_merge(Processes& processes, Clock& clock,
                                               const std::string& worktree, std::string commit,
                                               std::function<void(Result<bool>)> done);

}  // namespace tend
