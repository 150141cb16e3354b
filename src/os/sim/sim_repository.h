// The repositories of the simulated machine: commits with parents, branches, and work trees that
// share both. Merges are three-way by whole files.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/sim/sim_kernel.h"
#include "os/version_control.h"

namespace tend {

bool sim_path_is_below(std::string_view path, std::string_view folder);

using SimContents = std::map<std::string, std::string>;  // relative path to contents

/// One work tree, for the time of one call.
class SimWorktree {
 public:
  /// The work tree that holds the path; nullopt if there is none. What a test put into its head is
  /// committed now.
  static std::optional<SimWorktree> holding(SimKernel& kernel, const std::string& path);
  /// Its top, or the path itself.
  static std::string top_of(const SimSettings& settings, const std::string& path);

  [[nodiscard]] const std::string& top() const { return top_; }
  [[nodiscard]] SimRepository& here() const { return *here_; }
  [[nodiscard]] SimRepository& shared() const { return *shared_; }
  [[nodiscard]] WorktreeState state() const;
  /// What is on the disk and neither ignored nor excluded nor of another work tree.
  [[nodiscard]] std::map<std::string, SimNodePtr> on_disk(
      const std::vector<std::string>& exclude) const;
  [[nodiscard]] bool contains(const std::string& commit) const;
  [[nodiscard]] std::vector<WorktreeEntry> all() const;
  [[nodiscard]] std::vector<SavedWork> saved() const;

  Result<WorktreeState> make_another(const WorktreeOrder& order);
  Committed commit(const CommitOrder& order);
  /// The first half of a merge: an answer if it is over already.
  std::optional<Merged> begin_merge(const MergeOrder& order);
  Merged finish_merge(const MergeOrder& order);
  bool abort_merge(const std::string& commit);

  /// Makes a commit of these files on top of what is checked out. Moves nothing.
  SimRepository::Commit make_commit(std::string message, SimContents files,
                                    std::vector<std::string> parents) const;

 private:
  SimWorktree(SimKernel& kernel, std::string top, SimRepository& here, SimRepository& shared)
      : kernel_(&kernel), top_(std::move(top)), here_(&here), shared_(&shared) {}

  void settle();
  void move_to(const SimRepository::Commit& commit);
  void check_out(const SimContents& before, const SimContents& files);
  [[nodiscard]] std::string in_the_way_of(const SimContents& files) const;
  [[nodiscard]] SimContents tracked_on_disk() const;
  [[nodiscard]] std::string changed_paths() const;
  [[nodiscard]] std::optional<std::string> common_ancestor(const std::string& one,
                                                           const std::string& other) const;

  SimKernel* kernel_;
  std::string top_;
  SimRepository* here_;
  SimRepository* shared_;
};

/// How many paths differ.
std::uint64_t sim_differences(const SimContents& a, const SimContents& b);

}  // namespace tend
