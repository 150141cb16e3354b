// The part of a row that brings an index to where the work tree is:
//
//   ls-files       what differs between index and work tree?
//   (update-index  removals, and claims taken back)
//   (update-index  the files; a batch that fails is halved until it is one file, left out)
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/linux/git_plan.h"
#include "os/linux/git_row.h"

namespace tend {

/// Self has not_listed(), for an index that cannot be read, can_do_without_filters(), asked when
/// something fails, and filled(), which goes on.
template <class Self, class Answer>
class GitFill : public GitRow<Self, Answer> {
 protected:
  using Row = GitRow<Self, Answer>;
  using Row::give_up;

  void fill(GitPlanOrder order) {
    order_ = std::move(order);
    list();
  }

  [[nodiscard]] std::vector<std::string> left_out() const { return plan_.left_out.told(); }
  [[nodiscard]] std::size_t updates() const { return batches_.size(); }

 private:
  friend Self;
  GitFill(Processes& processes, Clock& clock, const std::string& path, std::string_view verb,
          Row::Done done)
      : Row(processes, clock, path, verb, std::move(done)) {}

  Self& self() { return static_cast<Self&>(*this); }

  void list() { this->git(git_list_arguments(), &GitFill::listed, {}, kGitFiles); }

  void listed(const Ran& ran) {
    if (!succeeded(ran)) {
      if (self().can_do_without_filters()) return list();
      return self().not_listed(ran);
    }
    auto plan = plan_of(ran.output, order_);
    if (!plan) return give_up(plan.error().text);
    plan_ = *std::move(plan);
    if (ran.output.size() >= kGitMostOutput) plan_.left_out.add("...", "too many files to list");
    tell_warnings(ran.error, "warning: could not open directory ");
    batches_ = UpdateBatches(std::exchange(plan_.updates, {}));
    if (plan_.index_info.empty()) return add();
    this->git({"update-index", "-z", "--index-info"}, &GitFill::prepared,
              std::exchange(plan_.index_info, {}));
  }

  void prepared(const Ran& ran) {
    if (is_locked_out(ran)) return;
    if (!succeeded(ran)) return give_up(complaint(ran));
    add();
  }

  void add() {
    if (batches_.empty()) return self().filled();
    this->git({"update-index", "-z", "--add", "--remove", "--replace", "--stdin"}, &GitFill::added,
              batches_.next(), kGitFiles);
  }

  void added(const Ran& ran) {
    if (is_locked_out(ran)) return;
    if (succeeded(ran)) {
      tell_warnings(ran.error, "Ignoring path ");
      batches_.taken();
      return add();
    }
    if (self().can_do_without_filters()) return add();
    if (const auto path = batches_.failed()) plan_.left_out.add(*path, complaint(ran));
    if (batches_.failed_too_often()) return give_up(complaint(ran));
    add();
  }

  bool is_locked_out(const Ran& ran) {
    if (succeeded(ran)) return false;
    const std::string trouble = index_trouble(this->git_folder_, ran.error);
    if (trouble.empty()) return false;
    self().refuse(trouble);
    return true;
  }

  void tell_warnings(std::string_view said, std::string_view beginning) {
    while (!said.empty()) {
      const std::string_view line = said.substr(0, said.find('\n'));
      said.remove_prefix(std::min(line.size() + 1, said.size()));
      if (line.starts_with(beginning)) {
        plan_.left_out.add(line.substr(beginning.size()), "git does not take it");
      }
    }
  }

  GitPlanOrder order_;
  GitPlan plan_;
  UpdateBatches batches_;
};

}  // namespace tend
