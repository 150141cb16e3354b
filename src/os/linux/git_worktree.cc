// The row of commands for a new one:
//
//   worktree list     is there one at this path already?
//   rev-parse         is there such a branch, and where does it start?
//   (grep             filters that the repository defines: refused)
//   (worktree remove  what was left in its middle)
//   worktree add      fails: the branch that it made is removed again
//   sync
//   status            of the new one
//
// While git makes a work tree it locks it, with a reason that nobody else would give: that is how
// one that was left in its middle is known. It has no files of anybody.
#include "os/linux/git_worktree.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/quote.h"
#include "os/linux/git_row.h"
#include "os/linux/git_state.h"

namespace tend {
namespace {

struct ListedWorktree {
  WorktreeEntry entry;
  bool bare = false;
  bool is_being_made = false;
};

/// A git before 2.36 ends lines with LF only.
std::vector<std::string> list_arguments(bool old_git) {
  std::vector<std::string> arguments{"worktree", "list", "--porcelain"};
  if (!old_git) arguments.emplace_back("-z");
  return arguments;
}

std::vector<ListedWorktree> read_list(std::string output, bool old_git) {
  if (old_git) std::ranges::replace(output, '\n', '\0');
  std::vector<ListedWorktree> all;
  const auto value = [](std::string_view line, std::string_view key) {
    return line.starts_with(key) ? std::optional(line.substr(key.size())) : std::nullopt;
  };
  for (const std::string_view line : parts_of(output)) {
    if (const auto path = value(line, "worktree ")) {
      all.push_back({.entry = {.path = std::string(*path), .branch = {}, .commit = {}}});
    }
    if (all.empty()) continue;
    if (const auto commit = value(line, "HEAD ")) all.back().entry.commit = *commit;
    if (const auto branch = value(line, "branch refs/heads/")) all.back().entry.branch = *branch;
    if (line == "bare") all.back().bare = true;
    if (line == "locked initializing") all.back().is_being_made = true;
  }
  return all;
}

/// As git writes it, also of what does not exist yet.
std::string as_git_writes(const std::string& path) {
  std::string clean = without_links(path);
  const auto slash = clean.rfind('/');
  if (slash == std::string::npos || slash == 0) return clean;
  const std::string above = without_links(clean.substr(0, slash));
  return (above == "/" ? "" : above) + clean.substr(slash);
}

class GitWorktrees final : public GitRow<GitWorktrees, std::vector<WorktreeEntry>> {
 public:
  GitWorktrees(Processes& processes, Clock& clock, const std::string& path, Done done)
      : GitRow(processes, clock, path, "list the work trees of", std::move(done)) {}

 private:
  friend GitRow;

  void without() { finish(std::vector<WorktreeEntry>{}); }
  void begin() { git(list_arguments(old_git_), &GitWorktrees::listed); }

  void listed(const Ran& ran) {
    if (takes_no_option(ran) && !std::exchange(old_git_, true)) return begin();
    if (!succeeded(ran)) return give_up(complaint(ran));
    std::vector<WorktreeEntry> entries;
    for (const ListedWorktree& one : read_list(ran.output, old_git_)) {
      if (!one.bare) entries.push_back(one.entry);
    }
    finish(std::move(entries));
  }

  bool old_git_ = false;
};

class GitMakeWorktree final : public GitRow<GitMakeWorktree, WorktreeState> {
 public:
  GitMakeWorktree(Processes& processes, Clock& clock, WorktreeOrder order, Done done)
      : GitRow(processes, clock, order.repository, "make a work tree of", std::move(done)),
        order_(std::move(order)),
        path_(as_git_writes(order_.path)) {}

 private:
  friend GitRow;

  void without() {
    finish(fail(fmt::format("there is no version control in {}", order_.repository)));
  }
  void refuse(std::string_view why) { give_up(why); }
  void begin() { git(list_arguments(old_git_), &GitMakeWorktree::listed); }

  [[nodiscard]] std::string branch_ref() const { return "refs/heads/" + order_.branch; }

  void listed(const Ran& ran) {
    if (takes_no_option(ran) && !std::exchange(old_git_, true)) return begin();
    if (!succeeded(ran)) return give_up(complaint(ran));
    for (const ListedWorktree& one : read_list(ran.output, old_git_)) {
      if (one.entry.path != path_) continue;
      is_being_made_ = one.is_being_made;
      is_known_ = true;
      is_ours_ = one.entry.branch == order_.branch || is_being_made_;
    }
    if (is_known_ && !is_ours_) return give_up(path_ + " is a work tree of it already");
    if (order_.branch.empty()) return resolve();
    git({"rev-parse", "--verify", "--quiet", branch_ref()}, &GitMakeWorktree::looked_for_branch);
  }

  void looked_for_branch(const Ran& ran) {
    has_branch_ = succeeded(ran);
    if (!has_branch_ || is_ours_) return resolve();
    give_up(fmt::format("a branch named {} exists already; choose another name",
                        on_one_line(order_.branch)));
  }

  void resolve() {
    struct stat facts{};
    const bool is_there = ::lstat(path_.c_str(), &facts) == 0;
    if (is_known_ && is_there && !is_being_made_) return look();
    const std::string from = order_.from.empty() ? "HEAD" : order_.from;
    git({"rev-parse", "--verify", "--quiet", "--end-of-options", from + "^{commit}"},
        &GitMakeWorktree::resolved);
  }

  void resolved(const Ran& ran) {
    if (!succeeded(ran)) {
      return give_up(order_.from.empty() ? "there is no commit yet to start from; commit once, or "
                                           "use --worktree DIR"
                                         : "there is no commit " + on_one_line(order_.from));
    }
    from_ = line_of(ran);
    guard({from_}, &GitMakeWorktree::clear);
  }

  void clear() {
    if (!is_being_made_) return add();
    git({"worktree", "remove", "--force", "--force", path_}, &GitMakeWorktree::cleared, {},
        kGitFiles);
  }

  // It fails where there is no folder yet; then adding it by force does.
  void cleared(const Ran& /*ran*/) { add(); }

  void add() {
    std::vector<std::string> arguments{"worktree", "add"};
    if (is_known_) arguments.insert(arguments.end(), {"--force", "--force"});
    if (order_.branch.empty()) arguments.emplace_back("--detach");
    if (!order_.branch.empty() && !has_branch_) {
      arguments.insert(arguments.end(), {"-b", order_.branch});
    }
    arguments.push_back(path_);
    arguments.push_back(has_branch_ ? order_.branch : from_);
    git(std::move(arguments), &GitMakeWorktree::added, {}, kGitLongest);
  }

  void added(const Ran& ran) {
    if (succeeded(ran)) return sync(path_, &GitMakeWorktree::kept);
    why_ = complaint(ran);
    if (order_.branch.empty() || has_branch_) return give_up(why_);
    git({"update-ref", "-d", branch_ref(), from_}, &GitMakeWorktree::taken_back);
  }

  void taken_back(const Ran& /*ran*/) { give_up(why_); }

  void kept(const Ran& ran) {
    if (!succeeded(ran)) return give_up(complaint(ran));
    look();
  }

  void look() {
    place_.top = path_;
    git({"rev-parse", "--absolute-git-dir"}, &GitMakeWorktree::located_new_one);
  }

  void located_new_one(const Ran& ran) {
    if (!succeeded(ran)) return give_up(complaint(ran));
    git_folder_ = line_of(ran);
    git(git_status_arguments(), &GitMakeWorktree::told, {}, kGitFiles);
  }

  void told(const Ran& ran) {
    if (!succeeded(ran)) return give_up(complaint(ran));
    finish(read_git_status(ran.output, path_, git_folder_).state);
  }

  WorktreeOrder order_;
  std::string path_;
  std::string from_;
  std::string why_;
  bool old_git_ = false;
  bool has_branch_ = false;
  bool is_known_ = false;       // git has a work tree at the path
  bool is_being_made_ = false;  // that was left in its middle
  bool is_ours_ = false;        // that may be taken over
};

}  // namespace

Subscribed begin_git_worktrees(Processes& processes, Clock& clock, const std::string& path,
                               std::function<void(Result<std::vector<WorktreeEntry>>)> done) {
  return std::make_unique<GitWorktrees>(processes, clock, path, std::move(done));
}

Subscribed begin_git_make_worktree(Processes& processes, Clock& clock, WorktreeOrder order,
                                   std::function<void(Result<WorktreeState>)> done) {
  return std::make_unique<GitMakeWorktree>(processes, clock, std::move(order), std::move(done));
}

}  // namespace tend
