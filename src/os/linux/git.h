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
  [[nodiscard]] Subscribed state(const std::string& worktree,
                                 std::function<void(Result<WorktreeState>)> done) override;
  [[nodiscard]] Subscribed make_worktree(const WorktreeOrder& order,
                                         std::function<void(Result<WorktreeState>)> done) override;
  [[nodiscard]] Subscribed commit(const CommitOrder& order,
                                  std::function<void(Result<Committed>)> done) override;
  [[nodiscard]] Subscribed merge(const MergeOrder& order,
                                 std::function<void(Result<Merged>)> done) override;
  [[nodiscard]] Subscribed abort_merge(const std::string& worktree, const std::string& commit,
                                       std::function<void(Result<bool>)> done) override;
  [[nodiscard]] Subscribed contains(const std::string& worktree, const std::string& commit,
                                    std::function<void(Result<bool>)> done) override;
  [[nodiscard]] Subscribed worktrees(
      const std::string& path,
      std::function<void(Result<std::vector<WorktreeEntry>>)> done) override;
  [[nodiscard]] Subscribed saved(const std::string& path,
                                 std::function<void(Result<std::vector<SavedWork>>)> done) override;
  std::string repository(const std::string& path) override;
  std::string top(const std::string& path) override;

 private:
  Processes& processes_;
  Clock& clock_;
};

}  // namespace tend
