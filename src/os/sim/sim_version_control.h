// Version control and salvage on the simulated disk: a work tree is the files below a folder, a
// repository is a row in the settings of the universe.
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
  std::string repository(const std::string& path) override;
  std::string top(const std::string& path) override;

 private:
  Subscribed later(Callback work);

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
