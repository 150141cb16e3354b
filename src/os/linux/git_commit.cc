// The row of commands:
//
//   status         in the middle of something, or on no branch: refused
//   (grep          filters that the repository defines: refused)
//   ls-files, update-index   the real index, as `git add --all` would leave it
//   diff-index     the same as HEAD: nothing to do; ls-files where there is no HEAD yet
//   sync           what was added is on the disk before a commit names it
//   commit
//   rev-parse
//
// Killed between any two of them, it leaves what a person leaves who has not committed yet.
#include "os/linux/git_commit.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "os/linux/git_fill.h"
#include "os/linux/git_state.h"

namespace tend {
namespace {

class GitCommit final : public GitFill<GitCommit, Committed> {
 public:
  GitCommit(Processes& processes, Clock& clock, CommitOrder order, Done done)
      : GitFill(processes, clock, order.worktree, "commit", std::move(done)),
        order_(std::move(order)) {}

 private:
  friend GitRow;
  friend GitFill;

  void without() { refuse("there is no version control there"); }

  void refuse(std::string_view why) {
    finish(Committed{.commit = {}, .refused = std::string(why), .left_out = {}});
  }

  void begin() { git(git_status_arguments(), &GitCommit::looked, {}, kGitFiles); }

  void looked(const Ran& ran) {
    if (!succeeded(ran)) return give_up(complaint(ran));
    const GitStatus status = read_git_status(ran.output, place_.top, git_folder_);
    if (!status.state.busy.empty()) return refuse(status.state.busy + " is in progress");
    if (status.in_conflict) return refuse("it has conflicts that are not resolved");
    if (status.state.branch.empty()) return refuse("it is on no branch");
    if (!status.state.dirty) return finish(Committed{});
    const std::string trouble = index_trouble(git_folder_);
    if (!trouble.empty()) return refuse(trouble);
    is_first_ = status.state.commit.empty();
    guard({}, &GitCommit::add_all);
  }

  void add_all() {
    fill({.top = place_.top,
          .largest_file = order_.largest_file,
          .exclude = order_.exclude,
          .missing_is_deleted = true,
          .believes_claims = true});
  }

  // A file that a filter of the user should have changed is no file for a branch.
  static bool can_do_without_filters() { return false; }
  void not_listed(const Ran& ran) { give_up(complaint(ran)); }

  void filled() {
    if (is_first_) return git({"ls-files", "-z"}, &GitCommit::listed);
    git({"diff-index", "--cached", "--quiet", "--ignore-submodules=none", "HEAD"},
        &GitCommit::compared);
  }

  void listed(const Ran& ran) {
    if (!succeeded(ran)) return give_up(complaint(ran));
    if (ran.output.empty()) return finish(result(""));
    sync(objects_folder(), &GitCommit::stored);
  }

  void compared(const Ran& ran) {
    if (succeeded(ran)) return finish(result(""));
    if (!said_no(ran)) return give_up(complaint(ran));
    sync(objects_folder(), &GitCommit::stored);
  }

  void stored(const Ran& ran) {
    if (!succeeded(ran)) return give_up(complaint(ran));
    place_.durable = true;
    place_.identity = config_.identity;
    git({"commit", "--quiet", "--no-verify", "--no-gpg-sign", "--allow-empty-message",
         "--cleanup=whitespace", "-F", "-"},
        &GitCommit::committed, order_.message + "\n", kGitFiles);
  }

  void committed(const Ran& ran) {
    if (!succeeded(ran)) {
      const std::string trouble = index_trouble(git_folder_, ran.error);
      return trouble.empty() ? give_up(complaint(ran)) : refuse(trouble);
    }
    git({"rev-parse", "--verify", "HEAD"}, &GitCommit::named);
  }

  void named(const Ran& ran) {
    if (!succeeded(ran)) return give_up(complaint(ran));
    finish(result(line_of(ran)));
  }

  [[nodiscard]] Committed result(std::string commit) const {
    return {.commit = std::move(commit), .refused = {}, .left_out = left_out()};
  }

  CommitOrder order_;
  bool is_first_ = false;
};

}  // namespace

Subscribed begin_git_commit(Processes& processes, Clock& clock, CommitOrder order,
                            std::function<void(Result<Committed>)> done) {
  return std::make_unique<GitCommit>(processes, clock, std::move(order), std::move(done));
}

}  // namespace tend
