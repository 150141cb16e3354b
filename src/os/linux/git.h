// Version control by git, through the git program. A repository is not trusted: no hook, filter or
// other command that it defines is run, and nothing goes over the network.
#pragma once

#include "os/clock.h"
#include "os/process.h"
#include "os/version_control.h"

namespace tend {

class Git final : public VersionControl {
 public:
  /// Both outlive it and every subscription that it gave out.
  Git(Processes& processes, Clock& clock) : processes_(processes), clock_(clock) {}

  /// Fails, with words, if there is a repository and git cannot or will not save it. A folder in
  /// the work tree that is a repository of its own is left out, and so is what is ignored.
  [[nodiscard]] Subscribed snapshot(const SnapshotOrder& order,
                                    std::function<void(Result<Snapshot>)> done) override;
  /// Looks at `worktree` itself, not at the rest of its repository, and at no folder named ".git".
  [[nodiscard]] Subscribed changed_since(const std::string& worktree, WallTime since,
                                         const std::vector<std::string>& exclude,
                                         std::function<void(Result<bool>)> done) override;
  std::string repository(const std::string& path) override;
  std::string top(const std::string& path) override;

 private:
  Processes& processes_;
  Clock& clock_;
};

}  // namespace tend
