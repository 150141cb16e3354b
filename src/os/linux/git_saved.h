// What snapshots left in a repository.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "os/clock.h"
#include "os/process.h"
#include "os/version_control.h"

namespace tend {

/// As VersionControl::saved() promises; the newest thousand.
[[nodiscard]] Subscribed begin_git_saved(Processes& processes, Clock& clock,
                                         const std::string& path,
                                         std::function<void(Result<std::vector<SavedWork>>)> done);

}  // namespace tend
