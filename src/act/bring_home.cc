// look at the child -> take back what one before us left -> announce -> merge
#include "act/bring_home.h"

#include <utility>

#include <fmt/format.h>

#include "base/quote.h"

namespace tend {
namespace {

constexpr std::size_t kShortCommit = 7;

std::string short_of(const std::string& commit) { return commit.substr(0, kShortCommit); }

std::string branch_words(const WorktreeState& state) {
  return state.branch.empty() ? "commit " + short_of(state.commit) : "branch " + state.branch;
}

}  // namespace

class BringHome::Work {
 public:
  Work(Machine& machine, BringHomeOrder order, Announce announce,
       std::function<void(const Result<BroughtHome>&)> done)
      : folders_(machine.folders),
        control_(machine.version_control),
        order_(std::move(order)),
        announce_(std::move(announce)),
        done_(std::move(done)) {
    step_ = control_.state(order_.from, [this](Result<WorktreeState> state) { look(state); });
  }

 private:
  void look(const Result<WorktreeState>& state) {
    if (!state) return fail_with(state.error().text);
    child_ = *state;
    if (!folders_.real_path(order_.from)) {
      return finish(false, fmt::format("its work tree {} is gone: merge its branch by hand, if it "
                                       "has one",
                                       order_.from));
    }
    if (!child_.versioned) {
      return finish(
          true, fmt::format("there is no version control in {}: its work is there", order_.from));
    }
    if (child_.commit.empty()) return finish(true, "there was nothing to merge");
    if (order_.announced.empty()) return announce();
    step_ = control_.abort_merge(order_.into, order_.announced, [this](Result<bool> aborted) {
      if (!aborted) return fail_with(aborted.error().text);
      announce();
    });
  }

  void announce() {
    step_ = control_.contains(order_.into, child_.commit, [this](Result<bool> contained) {
      if (contained && *contained) return finish(true, "its work is merged");
      if (auto said = announce_(child_.commit); !said) return fail_with(said.error().text);
      merge();
    });
  }

  void merge() {
    MergeOrder order;
    order.into = order_.into;
    order.commit = child_.commit;
    order.message = fmt::format("Merge the work of {} ({})", order_.child, branch_words(child_));
    step_ = control_.merge(order, [this](Result<Merged> merged) { take(merged); });
  }

  void take(const Result<Merged>& merged) {
    if (!merged) return fail_with(merged.error().text);
    switch (merged->how) {
      case Merged::How::merged:
        return finish(true, "merged as " + short_of(merged->commit));
      case Merged::How::already:
        return finish(true, "its work is merged");
      case Merged::How::conflict:
        return finish(false, fmt::format("it is in conflict with {}, and stays on {}: {}",
                                         order_.into, branch_words(child_), paths_of(*merged)));
      case Merged::How::refused:
        break;
    }
    finish(false, fmt::format("it stays on {}: {}", branch_words(child_), merged->why));
  }

  static std::string paths_of(const Merged& merged) {
    std::string paths;
    for (const std::string& path : merged.paths) {
      paths += (paths.empty() ? "" : ", ") + on_one_line(path);
    }
    return paths;
  }

  void finish(bool home, std::string how) { answer(BroughtHome{home, std::move(how)}); }
  void fail_with(const std::string& why) { answer(fail(why)); }

  void answer(const Result<BroughtHome>& brought) {
    const auto done = std::move(done_);
    done(brought);  // which may end us
  }

  Folders& folders_;
  VersionControl& control_;
  BringHomeOrder order_;
  Announce announce_;
  std::function<void(const Result<BroughtHome>&)> done_;
  WorktreeState child_;
  Subscribed step_;
};

BringHome::BringHome(Machine& machine, BringHomeOrder order, Announce announce,
                     std::function<void(const Result<BroughtHome>&)> done)
    : work_(std::make_unique<Work>(machine, std::move(order), std::move(announce),
                                   std::move(done))) {}

BringHome::~BringHome() = default;

}  // namespace tend
