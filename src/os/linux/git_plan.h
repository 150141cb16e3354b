// From what git lists of a work tree to what has to be done to a private index so that it holds the
// whole work tree as it stands, and to what cannot be held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tend {

/// What was not saved: paths and why. Past a bound they are only counted.
class LeftOut {
 public:
  void add(std::string_view path, std::string_view why);
  [[nodiscard]] std::vector<std::string> told() const;

 private:
  std::vector<std::string> named_;
  std::uint64_t more_ = 0;
};

struct GitPlanOrder {
  std::string top;
  std::uint64_t largest_file = 0;    // untracked ones above are left out
  std::vector<std::string> exclude;  // absolute paths; those inside the work tree are left out
  bool missing_is_deleted = true;
  bool believes_claims = false;  // files that the index claims to be unchanged are left as they are
};

struct GitPlan {
  std::string index_info;            // for `update-index -z --index-info`, first
  std::vector<std::string> updates;  // for `update-index -z --add --remove --replace --stdin`
  LeftOut left_out;
};

/// The updates of a plan on their way into an index. A batch that fails is halved until it is one
/// file.
class UpdateBatches {
 public:
  UpdateBatches() = default;
  explicit UpdateBatches(std::vector<std::string> paths);

  [[nodiscard]] bool empty() const { return open_.empty(); }
  [[nodiscard]] std::size_t size() const { return paths_.size(); }
  /// The paths of the next batch, each with a NUL behind it. REQUIRES one.
  [[nodiscard]] std::string next() const;
  void taken();
  /// The path if the batch was of one; it is not tried again.
  std::optional<std::string> failed();
  [[nodiscard]] bool failed_too_often() const;

 private:
  struct Batch {
    std::size_t begin;
    std::size_t end;
  };
  std::vector<std::string> paths_;
  std::deque<Batch> open_;
  int failures_ = 0;
};

std::vector<std::string> git_list_arguments();
/// Reads the answer and looks at each path of it that matters. `output` may end in the middle of a
/// path; what it does not hold is not in the plan. What cannot be looked at is left out, and never
/// taken for deleted.
Result<GitPlan> plan_of(std::string_view output, const GitPlanOrder& order);

}  // namespace tend
