// Version control and salvage on the simulated disk: a work tree is the files below a folder, its
// repository a row in the settings of the universe (sim_repository.h).
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "os/sim/sim_kernel.h"
#include "os/version_control.h"

namespace tend {

class SimVersionControl final : public VersionControl {
 public:
  explicit SimVersionControl(SimHandlePtr handle) : handle_(std::move(handle)) {}
  [[nodiscard]] Subscribed snapshot(const SnapshotOrder& order,
                                    std::function<void(Result<Snapshot>)> done) override;
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
  /// Asks after the time that it takes.
  template <class Answer>
  Subscribed ask(std::function<Result<Answer>(SimKernel&)> question,
                 std::function<void(Result<Answer>)> done);
  Subscribed later(Duration wait, Callback work);

  SimHandlePtr handle_;
};

class SimSalvager final : public Salvager {
 public:
  explicit SimSalvager(SimHandlePtr handle) : handle_(std::move(handle)) {}
  Result<Salvage> salvage(const SalvageOrder& order) override;

 private:
  SimHandlePtr handle_;
};

}  // namespace tend
