// From what git lists of a work tree to what has to be done to a private index so that it holds the
// whole work tree as it stands, and to what cannot be held.
#pragma once

#include <cstdint>
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
};

struct GitPlan {
  std::string index_info;            // for `update-index -z --index-info`, first
  std::vector<std::string> updates;  // for `update-index -z --add --remove --replace --stdin`
  LeftOut left_out;
};

std::vector<std::string> git_list_arguments();
/// Reads the answer and looks at each path of it that matters. `output` may end in the middle of a
/// path; what it does not hold is not in the plan. What cannot be looked at is left out, and never
/// taken for deleted.
Result<GitPlan> plan_of(std::string_view output, const GitPlanOrder& order);

}  // namespace tend
