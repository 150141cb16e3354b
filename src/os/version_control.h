// Version control of a work tree: saving all of it without touching what the person or program
// working in it sees, and telling which paths it ignores.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/loop.h"

namespace tend {

struct SnapshotOrder {
  std::string worktree;
  std::string ref;      // "refs/tend/NAME/3": no pattern
  std::string message;  // of the commit
  std::uint64_t largest_file =
      std::uint64_t{100} * 1024 * 1024;  // untracked ones above are left out
  std::vector<std::string> exclude;      // absolute paths of our own
};

struct Snapshot {
  bool versioned = false;   // false: there is no version control here, and nothing was done
  std::string commit;       // empty: nothing to save, all is in the commit that is checked out
  std::string ref;          // where it is
  std::uint64_t files = 0;  // changed against what is checked out
  std::vector<std::string> left_out;  // paths, and why
};

class VersionControl {
 public:
  virtual ~VersionControl() = default;
  /// Saves the whole work tree, untracked files and conflicts as they stand, as a commit under
  /// `ref`; a ref that exists is never moved, whoever made it: REF-2 then, REF-3 and so on. What
  /// the last of these holds already is not saved again. Index, branch, hooks, signing: untouched.
  /// Survives a power cut.
  [[nodiscard]] virtual Subscribed snapshot(const SnapshotOrder& order,
                                            std::function<void(Result<Snapshot>)> done) = 0;
  /// Whether a file of the work tree that is not ignored changed after `since`. Bounded: a huge
  /// tree is looked at in part.
  [[nodiscard]] virtual Subscribed changed_since(const std::string& worktree, WallTime since,
                                                 const std::vector<std::string>& exclude,
                                                 std::function<void(Result<bool>)> done) = 0;
  /// The top of the work tree that holds `path`; empty if there is no version control.
  virtual std::string repository(const std::string& path) = 0;
  /// The top of the work tree that holds `path`, or `path` itself.
  virtual std::string top(const std::string& path) = 0;
};

/// Copying work where there is no version control.
struct SalvageOrder {
  std::string worktree;
  std::string into;  // an existing folder of ours
  std::uint64_t most_bytes = std::uint64_t{1024} * 1024 * 1024;
  std::uint64_t most_files = 100'000;
  WallTime changed_since{};  // older files are left where they are
  std::vector<std::string> exclude;
};
struct Salvage {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::uint64_t left_out = 0;
};

class Salvager {
 public:
  virtual ~Salvager() = default;
  virtual Result<Salvage> salvage(const SalvageOrder& order) = 0;
};

}  // namespace tend
