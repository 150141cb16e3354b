// The row of commands:
//
//   status       no commit yet, in the middle of something: refused
//   rev-parse    is there such a commit?
//   merge-base   is it contained already? Else nothing may be uncommitted
//   (grep        drivers that the repository defines: refused)
//   merge-tree   conflicts are found without touching anything; a git before 2.38 cannot
//   diff-tree    what the merge would add must not be there: git overwrites what is ignored
//   merge
//   rev-list     it is what was asked for
//   sync
//
// A merge that fails all the same is taken back, and it is made sure that it was.
#include "os/linux/git_merge.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "os/linux/git_row.h"
#include "os/linux/git_state.h"

namespace tend {
namespace {

constexpr std::size_t kMostPaths = 20;
constexpr std::size_t kMostNamed = 3;

std::string named(const std::vector<std::string>& paths) {
  std::string list;
  for (std::size_t i = 0; i < std::min(paths.size(), kMostNamed); ++i) {
    list += (i == 0 ? "" : ", ") + on_one_line(paths[i]);
  }
  if (paths.size() > kMostNamed) list += ", ...";
  return list;
}

/// The files that git names when it refuses, or what else it says.
std::string words_of(const Ran& ran) {
  std::vector<std::string> files;
  for (std::string_view rest = ran.error; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.starts_with('\t')) files.emplace_back(line.substr(1));
  }
  if (files.empty()) return complaint(ran);
  return fmt::format("{} {}", complaint(ran), named(files));
}

class GitMerge final : public GitRow<GitMerge, Merged> {
 public:
  GitMerge(Processes& processes, Clock& clock, MergeOrder order, Done done)
      : GitRow(processes, clock, order.into, "merge into", std::move(done)),
        order_(std::move(order)) {}

 private:
  friend GitRow;

  void without() { refuse("there is no version control there"); }
  void refuse(std::string_view why) { end(Merged::How::refused, std::string(why)); }

  void end(Merged::How how, std::string why = {}, std::vector<std::string> paths = {}) {
    finish(Merged{.how = how, .commit = head_, .why = std::move(why), .paths = std::move(paths)});
  }

  void begin() { git(git_status_arguments(), &GitMerge::looked, {}, kGitFiles); }

  void looked(const Ran& ran) {
    if (!succeeded(ran)) return give_up(complaint(ran));
    before_ = read_git_status(ran.output, place_.top, git_folder_);
    head_ = before_.state.commit;
    if (head_.empty()) return refuse("there is no commit yet to merge into");
    if (!before_.state.busy.empty()) return refuse(before_.state.busy + " is in progress there");
    const std::string trouble = index_trouble(git_folder_);
    if (!trouble.empty()) return refuse(trouble);
    git({"rev-parse", "--verify", "--quiet", "--end-of-options", order_.commit + "^{commit}"},
        &GitMerge::found);
  }

  void found(const Ran& ran) {
    if (!succeeded(ran)) return refuse("there is no commit " + on_one_line(order_.commit));
    commit_ = line_of(ran);
    git({"merge-base", "--is-ancestor", commit_, head_}, &GitMerge::compared);
  }

  void compared(const Ran& ran) {
    if (succeeded(ran)) return end(Merged::How::already);
    if (!said_no(ran)) return refuse(complaint(ran));
    if (!before_.changed.empty()) {
      return refuse("it has changes that are not committed: " + named(before_.changed));
    }
    guard({head_, commit_}, &GitMerge::foresee);
  }

  void foresee() {
    git({"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", head_, commit_},
        &GitMerge::foreseen, {}, kGitFiles);
  }

  // The tree and, if there are conflicts, their paths.
  void foreseen(const Ran& ran) {
    const auto parts = parts_of(ran.output);
    if (said_no(ran) && parts.size() > 1) return conflict({parts.begin() + 1, parts.end()});
    if (takes_no_option(ran)) return merge();
    if (!succeeded(ran) || parts.empty()) return refuse(complaint(ran));
    git({"diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A", head_,
         std::string(parts.front())},
        &GitMerge::compared_trees, {}, kGitFiles);
  }

  void compared_trees(const Ran& ran) {
    if (!succeeded(ran)) return give_up(complaint(ran));
    std::vector<std::string> in_the_way;
    for (const std::string_view path : parts_of(ran.output)) {
      struct stat facts{};
      const std::string whole = fmt::format("{}/{}", place_.top, path);
      if (::lstat(whole.c_str(), &facts) != 0 || S_ISDIR(facts.st_mode)) continue;
      in_the_way.emplace_back(path);
    }
    if (in_the_way.empty()) return merge();
    refuse("files that are not tracked are in the way: " + named(in_the_way));
  }

  void merge() {
    place_.durable = true;
    place_.identity = config_.identity;
    std::vector<std::string> arguments{"merge",     "--no-ff", "--commit",      "--no-squash",
                                       "--no-stat", "--quiet", "--no-gpg-sign", "--no-edit"};
    if (!order_.message.empty()) arguments.insert(arguments.end(), {"-m", order_.message});
    arguments.push_back(commit_);
    git(std::move(arguments), &GitMerge::merged, {}, kGitLongest);
  }

  void merged(const Ran& ran) {
    if (succeeded(ran)) {
      return git({"rev-list", "--parents", "--max-count=1", "HEAD"}, &GitMerge::checked);
    }
    why_ = words_of(ran);
    if (line_in(git_folder_, "MERGE_HEAD").empty()) return refuse(why_);
    git({"ls-files", "-z", "--unmerged"}, &GitMerge::listed);
  }

  // "MODE ID STAGE\tPATH", once for each stage.
  void listed(const Ran& ran) {
    for (const std::string_view line : parts_of(ran.output)) {
      const std::string_view path = line.substr(std::min(line.find('\t') + 1, line.size()));
      if (paths_.empty() || paths_.back() != path) paths_.emplace_back(path);
    }
    git({"merge", "--abort"}, &GitMerge::aborted, {}, kGitFiles);
  }

  // It can fail after it did what matters: only looking tells.
  void aborted(const Ran& /*ran*/) {
    git(git_status_arguments(), &GitMerge::looked_again, {}, kGitFiles);
  }

  void looked_again(const Ran& ran) {
    if (!succeeded(ran)) return not_taken_back(complaint(ran));
    const GitStatus now = read_git_status(ran.output, place_.top, git_folder_);
    if (now.state.commit != head_) return not_taken_back("another commit is checked out");
    if (!now.state.busy.empty()) return not_taken_back(now.state.busy + " is in progress");
    if (!now.changed.empty()) return not_taken_back("it left changes in " + named(now.changed));
    if (paths_.empty()) return refuse(why_);
    conflict(std::move(paths_));
  }

  void not_taken_back(const std::string& why) {
    give_up(fmt::format("{}; and the merge could not be taken back: {}", why_, why));
  }

  void conflict(std::vector<std::string> paths) {
    std::string why = "both changed " + named(paths);
    if (paths.size() > kMostPaths) paths.resize(kMostPaths);
    end(Merged::How::conflict, std::move(why), std::move(paths));
  }

  // Settings of a branch can make a merge do something else.
  void checked(const Ran& ran) {
    if (!succeeded(ran)) return give_up(complaint(ran));
    const std::string line = line_of(ran);
    const std::string parents = fmt::format(" {} {}", head_, commit_);
    if (!line.ends_with(parents)) return give_up("it made something else than a merge");
    head_ = line.substr(0, line.size() - parents.size());
    sync(place_.top, &GitMerge::kept);
  }

  void kept(const Ran& ran) {
    if (!succeeded(ran)) return give_up(complaint(ran));
    end(Merged::How::merged);
  }

  MergeOrder order_;
  GitStatus before_;
  std::string head_;
  std::string commit_;
  std::string why_;
  std::vector<std::string> paths_;
};

class GitAbortMerge final : public GitRow<GitAbortMerge, bool> {
 public:
  GitAbortMerge(Processes& processes, Clock& clock, const std::string& worktree, std::string commit,
                Done done)
      : GitRow(processes, clock, worktree, "take the merge back in", std::move(done)),
        commit_(std::move(commit)) {}

 private:
  friend GitRow;

  void without() { finish(false); }

  void begin() {
    const std::string merging = line_in(git_folder_, "MERGE_HEAD");
    if (merging.empty() || merging != commit_) return finish(false);
    const std::string trouble = index_trouble(git_folder_);
    if (!trouble.empty()) return give_up(trouble);
    git({"merge", "--abort"}, &GitAbortMerge::aborted, {}, kGitFiles);
  }

  void aborted(const Ran& ran) {
    if (!succeeded(ran)) return give_up(complaint(ran));
    if (!line_in(git_folder_, "MERGE_HEAD").empty()) return give_up("it goes on");
    finish(true);
  }

  std::string commit_;
};

}  // namespace

Subscribed begin_git_merge(Processes& processes, Clock& clock, MergeOrder order,
                           std::function<void(Result<Merged>)> done) {
  return std::make_unique<GitMerge>(processes, clock, std::move(order), std::move(done));
}

Subscribed begin_git_abort_merge(Processes& processes, Clock& clock, const std::string& worktree,
                                 std::string commit, std::function<void(Result<bool>)> done) {
  return std::make_unique<GitAbortMerge>(processes, clock, worktree, std::move(commit),
                                         std::move(done));
}

}  // namespace tend
