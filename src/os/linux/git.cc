// Whether a work tree changed is found by looking at it: git is only asked for what is ignored,
// whole folders at a time, so that the walk need not go there.
#include "os/linux/git.h"
#include "os/linux/linux_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <deque>
#include <memory>
#include <set>
#include <string_view>
#include <utility>

#include "os/linux/fd.h"
#include "os/linux/file_walk.h"
#include "os/linux/git_command.h"
#include "os/linux/git_commit.h"
#include "os/linux/git_merge.h"
#include "os/linux/git_saved.h"
#include "os/linux/git_snapshot.h"
#include "os/linux/git_state.h"
#include "os/linux/git_worktree.h"

namespace tend {
namespace {

constexpr Duration kLongest = std::chrono::seconds{60};
constexpr std::size_t kMostIgnored = std::size_t{16} * 1024 * 1024;  // bytes of their names
constexpr std::size_t kMostLookedAt = 20'000;

/// Level by level, so that the bound cuts off the depths of a tree and not whole branches.
class ChangeWalk {
 public:
  struct Between {
    WallTime since;
    WallTime until;
  };
  ChangeWalk(const std::string& worktree, Between between, const std::vector<std::string>& exclude,
             std::set<std::string_view> ignored)
      : root_(::open(worktree.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
        between_(between),
        excluded_(exclude),
        ignored_(std::move(ignored)) {}

  Result<bool> finds_a_change() {
    if (!root_) return fail("cannot look into the work tree: " + system_says(errno));
    folders_.emplace_back("");
    while (!folders_.empty() && left_ > 0) {
      const std::string folder = std::move(folders_.front());
      folders_.pop_front();
      if (finds_a_change_in(folder)) return true;
    }
    return false;
  }

 private:
  bool finds_a_change_in(const std::string& path) {
    const Fd folder(::openat(root_.get(), path.empty() ? "." : path.c_str(),
                             O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder) return false;
    bool complete = true;
    for (const std::string& name : names_in(folder, left_, complete)) {
      --left_;
      const std::string below = path.empty() ? name : fmt::format("{}/{}", path, name);
      struct stat facts{};
      if (name == ".git" || ignored_.contains(below)) continue;
      if (::fstatat(folder.get(), name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (excluded_.has(facts)) continue;
      if (S_ISDIR(facts.st_mode)) {
        folders_.push_back(below);
      } else if (is_news(facts.st_mtim) || is_news(facts.st_ctim)) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool is_news(const timespec& time) const {
    return time_of(time) > between_.since && time_of(time) <= between_.until;
  }

  Fd root_;
  Between between_;
  Excluded excluded_;
  std::set<std::string_view> ignored_;
  std::deque<std::string> folders_;
  std::size_t left_ = kMostLookedAt;
};

class Changes final : public Subscription {
 public:
  Changes(Processes& processes, Clock& clock, std::string worktree, WallTime since,
          std::vector<std::string> exclude, std::function<void(Result<bool>)> done)
      : clock_(clock),
        worktree_(std::move(worktree)),
        since_(since),
        exclude_(std::move(exclude)),
        done_(std::move(done)) {
    const std::string top = top_of(worktree_);
    has_repository_ = !top.empty();
    Run run = git_command(
        {.top = has_repository_ ? top : worktree_},
        {"ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"});
    run.working_folder = worktree_;
    run.deadline = kLongest;
    run.most_output = kMostIgnored;
    running_ = processes.run(run, [this](const Result<Ran>& ran) {
      const auto tell = std::move(done_);
      tell(look(ran));  // which may destroy this
    });
  }

 private:
  Result<bool> look(const Result<Ran>& ran) const {
    std::set<std::string_view> ignored;
    if (!ran) return std::unexpected(ran.error());
    if (succeeded(*ran)) {
      for (std::string_view path : parts_of(ran->output)) {
        if (path.ends_with('/')) path.remove_suffix(1);
        ignored.insert(path);
      }
    } else if (has_repository_ && !not_found(*ran)) {
      return fail("git could not say what is ignored in " + worktree_ + ": " + complaint(*ran));
    }
    return ChangeWalk(worktree_, {.since = since_, .until = clock_.wall() + kClockMayBeAhead},
                      exclude_, std::move(ignored))
        .finds_a_change();
  }

  Clock& clock_;
  std::string worktree_;
  WallTime since_;
  std::vector<std::string> exclude_;
  std::function<void(Result<bool>)> done_;
  bool has_repository_ = false;
  Subscribed running_;
};

}  // namespace

Subscribed Git::snapshot(const SnapshotOrder& order, std::function<void(Result<Snapshot>)> done) {
  return begin_git_snapshot(processes_, clock_, order, std::move(done));
}

Subscribed Git::changed_since(const std::string& worktree, WallTime since,
                              const std::vector<std::string>& exclude,
                              std::function<void(Result<bool>)> done) {
  return std::make_unique<Changes>(processes_, clock_, worktree, since, exclude, std::move(done));
}

Subscribed Git::state(const std::string& worktree,
                      std::function<void(Result<WorktreeState>)> done) {
  return begin_git_state(processes_, clock_, worktree, std::move(done));
}

Subscribed Git::make_worktree(const WorktreeOrder& order,
                              std::function<void(Result<WorktreeState>)> done) {
  return begin_git_make_worktree(processes_, clock_, order, std::move(done));
}

Subscribed Git::commit(const CommitOrder& order, std::function<void(Result<Committed>)> done) {
  return begin_git_commit(processes_, clock_, order, std::move(done));
}

Subscribed Git::merge(const MergeOrder& order, std::function<void(Result<Merged>)> done) {
  return begin_git_merge(processes_, clock_, order, std::move(done));
}

Subscribed Git::abort_merge(const std::string& worktree, const std::string& commit,
                            std::function<void(Result<bool>)> done) {
  return begin_git_abort_merge(processes_, clock_, worktree, commit, std::move(done));
}

Subscribed Git::contains(const std::string& worktree, const std::string& commit,
                         std::function<void(Result<bool>)> done) {
  return begin_git_contains(processes_, clock_, worktree, commit, std::move(done));
}

Subscribed Git::worktrees(const std::string& path,
                          std::function<void(Result<std::vector<WorktreeEntry>>)> done) {
  return begin_git_worktrees(processes_, clock_, path, std::move(done));
}

Subscribed Git::saved(const std::string& path,
                      std::function<void(Result<std::vector<SavedWork>>)> done) {
  return begin_git_saved(processes_, clock_, path, std::move(done));
}

std::string Git::repository(const std::string& path) { return top_of(path); }

std::string Git::top(const std::string& path) {
  std::string found = top_of(path);
  return found.empty() ? path : found;
}

}  // namespace tend
