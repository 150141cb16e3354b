// Version control of a work tree: saving all of it without touching what the person or program
// working in it sees; work trees for children, and bringing their work home.
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

/// Where a work tree stands.
struct WorktreeState {
  bool versioned = false;  // false: there is no version control here
  std::string top;         // of the work tree
  std::string commit;      // that is checked out; "" if there is none yet
  std::string branch;      // "work"; "" if it is on none
  std::string busy;        // "a merge", "a rebase" in progress; "" if nothing is
  std::string merging;     // the commit that is being merged; "" if none is
  bool dirty = false;      // something that is not ignored is not in the commit
};

struct WorktreeOrder {
  std::string repository;  // any path in one of its work trees
  std::string path;        // absolute; must not exist, or be an empty folder
  std::string branch;      // new; "" leaves it on none
  std::string from;        // a commit or a ref; "": what is checked out in `repository`
};

struct CommitOrder {
  std::string worktree;
  std::string message;
  std::uint64_t largest_file = std::uint64_t{100} * 1024 * 1024;  // as in SnapshotOrder
  std::vector<std::string> exclude;
};
struct Committed {
  std::string commit;                 // "": there was nothing to commit
  std::string refused;                // why nothing was done: "a merge is in progress"; "" if done
  std::vector<std::string> left_out;  // paths, and why
};

struct MergeOrder {
  std::string into;     // a work tree
  std::string commit;   // of the same repository
  std::string message;  // of the merge
};
struct Merged {
  enum class How : std::uint8_t {
    merged,
    already,   // what is checked out contains the commit
    conflict,  // taken back: everything is as it was
    refused,   // not begun: `why` says what is in the way
  };
  How how = How::refused;
  std::string commit;              // that is checked out now
  std::string why;                 // one line, for people
  std::vector<std::string> paths;  // in conflict; at most 20
};

/// A work tree that belongs to a repository.
struct WorktreeEntry {
  std::string path;
  std::string branch;  // "" if it is on none
  std::string commit;
};

/// A commit that snapshot() made.
struct SavedWork {
  std::string ref;
  std::string commit;
  WallTime at{};
  std::string message;      // its first line
  std::string why;          // the first line of what follows; "" if nothing does
  std::uint64_t files = 0;  // changed against its parent
};

/// How far the clock that gives files their times may be ahead of ours: another machine may hold
/// them.
inline constexpr Duration kClockMayBeAhead = std::chrono::minutes{2};

class VersionControl {
 public:
  virtual ~VersionControl() = default;
  /// Saves the whole work tree, untracked files and conflicts as they stand, as a commit under
  /// `ref`; a ref that exists is never moved, whoever made it: REF-2 then, REF-3 and so on. What
  /// the last of these holds already is not saved again. Index, branch, hooks, signing: untouched.
  /// Survives a power cut.
  [[nodiscard]] virtual Subscribed snapshot(const SnapshotOrder& order,
                                            std::function<void(Result<Snapshot>)> done) = 0;
  /// Whether a file of the work tree that is not ignored changed after `since`. One whose time is
  /// still to come (the calendar was set back, or somebody gave it that time) says nothing.
  /// Bounded: a huge tree is looked at in part.
  [[nodiscard]] virtual Subscribed changed_since(const std::string& worktree, WallTime since,
                                                 const std::vector<std::string>& exclude,
                                                 std::function<void(Result<bool>)> done) = 0;
  [[nodiscard]] virtual Subscribed state(const std::string& worktree,
                                         std::function<void(Result<WorktreeState>)> done) = 0;
  /// A new work tree of the same repository. Fails, with words, and leaves nothing behind; what was
  /// left by one that was killed in its middle is taken over if path and branch are the same.
  [[nodiscard]] virtual Subscribed make_worktree(
      const WorktreeOrder& order, std::function<void(Result<WorktreeState>)> done) = 0;
  /// Everything that is not ignored becomes a commit of the branch that is checked out. Hooks and
  /// signing: untouched. Refused while a merge or the like is in progress, on no branch, or while
  /// somebody else holds the index.
  [[nodiscard]] virtual Subscribed commit(const CommitOrder& order,
                                          std::function<void(Result<Committed>)> done) = 0;
  /// A merge commit in `into`, whatever could be done without one. Refused there if anything is not
  /// committed, if a merge or the like is in progress, or if it has no commit yet. Survives a power
  /// cut.
  [[nodiscard]] virtual Subscribed merge(const MergeOrder& order,
                                         std::function<void(Result<Merged>)> done) = 0;
  /// Takes a merge of this very commit back that was left in its middle; false if there is none.
  [[nodiscard]] virtual Subscribed abort_merge(const std::string& worktree,
                                               const std::string& commit,
                                               std::function<void(Result<bool>)> done) = 0;
  /// Whether what is checked out contains the commit.
  [[nodiscard]] virtual Subscribed contains(const std::string& worktree, const std::string& commit,
                                            std::function<void(Result<bool>)> done) = 0;
  /// All work trees of the repository that holds `path`, the main one first. None: no version
  /// control.
  [[nodiscard]] virtual Subscribed worktrees(
      const std::string& path, std::function<void(Result<std::vector<WorktreeEntry>>)> done) = 0;
  /// What snapshot() saved below "refs/tend/", oldest first.
  [[nodiscard]] virtual Subscribed saved(
      const std::string& path, std::function<void(Result<std::vector<SavedWork>>)> done) = 0;
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
