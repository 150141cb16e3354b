// Where a work tree stands, and whether it contains a commit.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "os/clock.h"
#include "os/process.h"
#include "os/version_control.h"

namespace tend {

/// A state, and what it is that is not committed.
struct GitStatus {
  WorktreeState state;
  bool in_conflict = false;
  std::vector<std::string> changed;  // paths that are tracked; at most three
};

/// The arguments that ask for it, and the answer read.
std::vector<std::string> git_status_arguments();
GitStatus read_git_status(std::string_view output, const std::string& top,
                          const std::string& git_folder);

[[nodiscard]] Subscribed begin_git_state(Processes& processes, Clock& clock,
                                         const std::string& worktree,
                                         std::function<void(Result<WorktreeState>)> done);
[[nodiscard]] Subscribed begin_git_contains(Processes& processes, Clock& clock,
                                            const std::string& worktree, std::string commit,
                                            std::function<void(Result<bool>)> done);

}  // namespace tend
