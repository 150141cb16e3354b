// git-status tells it all but what is in progress: of that it only advises people, so the files
// that it would look at are looked at here. Whether a submodule's own files changed is not asked,
// as git-merge does not: git would have to be run in a repository with settings of its own.
#include "os/linux/git_state.h"

#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <memory>
#include <utility>

#include "base/quote.h"
#include "os/linux/git_files.h"
#include "os/linux/git_row.h"

namespace tend {
namespace {

constexpr std::size_t kMostNamed = 3;

constexpr std::array<std::pair<const char*, const char*>, 7> kInProgress{{
    {"MERGE_HEAD", "a merge"},
    {"rebase-merge", "a rebase"},
    {"rebase-apply", "a rebase"},
    {"CHERRY_PICK_HEAD", "a cherry-pick"},
    {"REVERT_HEAD", "a revert"},
    {"sequencer", "a cherry-pick"},
    {"BISECT_LOG", "a bisect"},
}};

std::string in_progress(const std::string& git_folder) {
  for (const auto& [name, what] : kInProgress) {
    struct stat facts{};
    if (::lstat((git_folder + "/" + name).c_str(), &facts) == 0) return what;
  }
  return "";
}

/// What is behind that many words.
std::string_view behind(std::string_view line, int words) {
  for (; words > 0; --words) {
    const auto blank = line.find(' ');
    if (blank == std::string_view::npos) return {};
    line.remove_prefix(blank + 1);
  }
  return line;
}

void read_header(std::string_view line, WorktreeState& state) {
  constexpr std::string_view kCommit = "# branch.oid ";
  constexpr std::string_view kBranch = "# branch.head ";
  if (line.starts_with(kCommit)) {
    line.remove_prefix(kCommit.size());
    if (line != "(initial)") state.commit = line;
  } else if (line.starts_with(kBranch)) {
    line.remove_prefix(kBranch.size());
    if (line != "(detached)") state.branch = line;
  }
}

class GitState final : public GitRow<GitState, WorktreeState> {
 public:
  GitState(Processes& processes, Clock& clock, const std::string& worktree, Done done)
      : GitRow(processes, clock, worktree, "look at", std::move(done)) {}

 private:
  friend GitRow;

  void without() { finish(WorktreeState{}); }
  void begin() { git(git_status_arguments(), &GitState::told, {}, kGitFiles); }
  void told(const Ran& ran) {
    if (!succeeded(ran)) return give_up(complaint(ran));
    finish(read_git_status(ran.output, place_.top, git_folder_).state);
  }
};

class GitContains final : public GitRow<GitContains, bool> {
 public:
  GitContains(Processes& processes, Clock& clock, const std::string& worktree, std::string commit,
              Done done)
      : GitRow(processes, clock, worktree, "look at", std::move(done)),
        commit_(std::move(commit)) {}

 private:
  friend GitRow;

  void without() { give_up("there is no version control"); }
  void begin() { git({"rev-parse", "--verify", "--quiet", "HEAD"}, &GitContains::born); }
  void born(const Ran& ran) {
    if (!succeeded(ran)) return finish(false);
    git({"merge-base", "--is-ancestor", commit_, "HEAD"}, &GitContains::told);
  }
  void told(const Ran& ran) {
    const bool is_unknown = ran.error.contains("Not a valid commit name");
    if (!succeeded(ran) && !said_no(ran) && !is_unknown) return give_up(complaint(ran));
    finish(succeeded(ran));
  }

  std::string commit_;
};

}  // namespace

std::vector<std::string> git_status_arguments() {
  return {"status",
          "--porcelain=v2",
          "--branch",
          "-z",
          "--no-renames",
          "--untracked-files=normal",
          "--ignore-submodules=dirty"};
}

// "1 XY sub mH mI mW hH hI path", "u XY sub m1 m2 m3 mW h1 h2 h3 path", "? path".
GitStatus read_git_status(std::string_view output, const std::string& top,
                          const std::string& git_folder) {
  constexpr int kBeforeChanged = 8;
  constexpr int kBeforeConflict = 10;
  GitStatus status;
  status.state.versioned = true;
  status.state.top = top;
  status.state.busy = in_progress(git_folder);
  status.state.merging = line_in(git_folder, "MERGE_HEAD");
  for (const std::string_view line : parts_of(output)) {
    if (line.starts_with("# ")) {
      read_header(line, status.state);
      continue;
    }
    status.state.dirty = true;
    const bool in_conflict = line.starts_with("u ");
    status.in_conflict |= in_conflict;
    if (line.starts_with("? ") || status.changed.size() == kMostNamed) continue;
    status.changed.push_back(
        on_one_line(behind(line, in_conflict ? kBeforeConflict : kBeforeChanged)));
  }
  return status;
}

Subscribed begin_git_state(Processes& processes, Clock& clock, const std::string& worktree,
                           std::function<void(Result<WorktreeState>)> done) {
  return std::make_unique<GitState>(processes, clock, worktree, std::move(done));
}

Subscribed begin_git_contains(Processes& processes, Clock& clock, const std::string& worktree,
                              std::string commit, std::function<void(Result<bool>)> done) {
  return std::make_unique<GitContains>(processes, clock, worktree, std::move(commit),
                                       std::move(done));
}

}  // namespace tend
