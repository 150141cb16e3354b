// A row of git commands in one work tree, each begun by the answer to the one before.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/clock.h"
#include "os/linux/git_command.h"
#include "os/linux/git_files.h"
#include "os/linux/git_guard.h"
#include "os/process.h"
#include "os/version_control.h"

namespace tend {

inline constexpr Duration kGitUsual = std::chrono::seconds{60};
inline constexpr Duration kGitFiles = std::chrono::minutes{5};  // reading or writing many of them
inline constexpr Duration kGitLongest = std::chrono::minutes{10};
inline constexpr std::size_t kGitMostOutput = std::size_t{128} * 1024 * 1024;

template <class Self, class Answer>
class GitFill;

/// Every row begins with these two: where is the git folder (none: Self::without() answers), and
/// what does the configuration say; then Self::begin() goes on. What git must not do,
/// Self::refuse() says.
template <class Self, class Answer>
class GitRow : public Subscription {
 public:
  using Done = std::function<void(Result<Answer>)>;

 protected:
  using Next = void (Self::*)(const Ran&);

  void git(std::vector<std::string> arguments, Next next, std::string input = {},
           Duration limit = kGitUsual) {
    start(command(std::move(arguments), std::move(input)), next, limit);
  }

  void sync(const std::string& folder, Next next) {
    start({.command = {"sync", "--file-system", folder}}, next, kGitFiles);
  }

  [[nodiscard]] std::string objects_folder() const {
    return common_git_folder(git_folder_) + "/objects";
  }

  void give_up(std::string_view why) {
    self().finish(fail(fmt::format("git could not {} {}: {}", verb_, place_.top, why)));
  }

  /// Goes on unless an attribute in one of these trees, of the work tree if there is none, names a
  /// driver that the repository defines: without it git would do something else than is wanted.
  void guard(std::vector<std::string> trees, void (Self::*go_on)()) {
    auto arguments = git_guard_arguments(config_, std::move(trees));
    if (arguments.empty()) return (self().*go_on)();
    go_on_ = go_on;
    git(std::move(arguments), &GitRow::guarded, {}, kGitFiles);
  }

  /// Ends the command that runs. For destructors of what it works on.
  void stop() { running_.reset(); }

  /// The last thing that a row does: it may destroy this.
  void finish(Result<Answer> result) {
    const auto done = std::move(done_);
    done(std::move(result));
  }

  Processes& processes_;
  Clock& clock_;
  GitPlace place_;
  std::string git_folder_;
  GitConfig config_;

 private:
  friend Self;
  friend GitFill<Self, Answer>;

  /// `verb` stands in "git could not VERB PATH: ...".
  GitRow(Processes& processes, Clock& clock, const std::string& path, std::string_view verb,
         Done done)
      : processes_(processes),
        clock_(clock),
        verb_(verb),
        done_(std::move(done)),
        began_(clock.now()),
        began_wall_(clock.wall()) {
    const std::string top = top_of(path);
    has_repository_ = !top.empty();
    place_.top = has_repository_ ? top : path;
    git({"rev-parse", "--absolute-git-dir"}, &GitRow::located);
  }

  Self& self() { return static_cast<Self&>(*this); }

  Run command(std::vector<std::string> arguments, std::string input) {
    Run run = git_command(place_, std::move(arguments), began_wall_);
    run.input = std::move(input);
    run.most_output = kGitMostOutput;
    return run;
  }

  void start(Run run, Next next, Duration limit) {
    const Duration left = began_ + kGitLongest - clock_.now();
    if (left <= Duration::zero()) return give_up("it took too long");
    run.deadline = std::min(limit, left);
    running_ = processes_.run(run, [this, next](const Result<Ran>& ran) {
      if (!ran) return give_up(ran.error().text);
      if (ran->timed_out) return give_up(complaint(*ran));
      (self().*next)(*ran);
    });
  }

  void located(const Ran& ran) {
    if (!has_repository_ || not_found(ran)) return self().without();
    if (!succeeded(ran)) return give_up(why_no_repository(ran, place_.top));
    git_folder_ = line_of(ran);
    git(git_config_arguments(), &GitRow::configured);
  }

  void configured(const Ran& ran) {
    config_ = read_git_config(ran.output);  // exit code 1: nothing to tell
    place_.filters = config_.filters_of_repository;
    place_.merge_drivers = config_.merge_drivers_of_repository;
    self().begin();
  }

  void guarded(const Ran& ran) {
    if (!succeeded(ran) && !said_no(ran)) return give_up(complaint(ran));
    const auto danger = git_danger(config_, ran.output, common_git_folder(git_folder_));
    if (!danger.empty()) return self().refuse(danger);
    (self().*go_on_)();
  }

  std::string_view verb_;
  void (Self::*go_on_)() = nullptr;
  Done done_;
  Instant began_;
  WallTime began_wall_;
  bool has_repository_ = false;
  Subscribed running_;
};

}  // namespace tend
