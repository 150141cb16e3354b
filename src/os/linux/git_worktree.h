// The work trees of a repository: all of them, and a new one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "os/clock.h"
#include "os/process.h"
#include "os/version_control.h"

namespace tend {

[[nodiscard]] Subscribed begin_git_worktrees(
    Processes& processes, Clock& clock, const std::string& path,
    std::function<void(Result<std::vector<WorktreeEntry>>)> done);
/// As VersionControl::make_worktree() promises.
[[nodiscard]] Subscribed begin_git_make_worktree(Processes& processes, Clock& clock,
                                                 WorktreeOrder order,
                                                 std::function<void(Result<WorktreeState>)> done);

}  // namespace tend
