// Counting ends; see spending.h.
#include "judge/spending.h"

#include <algorithm>

namespace tend {

std::uint32_t Spending::count(const End& end) {
  const auto same = [&](const End& e) {
    return e.cause == end.cause && e.phase == end.phase && e.tool == end.tool;
  };
  const auto found = std::find_if(ends_.begin(), ends_.end(), same);
  if (found != ends_.end()) return ++found->times;
  if (ends_.size() >= kMostEnds) ends_.erase(ends_.begin());
  ends_.push_back(end);
  ends_.back().times = 1;
  return 1;
}

}  // namespace tend
