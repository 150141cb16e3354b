// The trees of a home, for people and for programs: who stands below whom, how far each one is, and
// whom it waits for.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "app/look.h"
#include "base/time.h"
#include "judge/waits.h"
#include "run/roster.h"

namespace tend {

/// A roster with what follows from it; `all` must outlive it.
class Forest {
 public:
  explicit Forest(std::span<const Entry> all);

  [[nodiscard]] std::span<const Entry> all() const { return all_; }
  [[nodiscard]] const WaitsFor& waits(std::size_t i) const { return waits_[i]; }
  [[nodiscard]] const std::vector<std::size_t>& children(std::size_t i) const {
    return children_[i];
  }

 private:
  std::span<const Entry> all_;
  std::vector<std::vector<std::size_t>> children_;
  std::vector<WaitsFor> waits_;
};

/// Rows of those in `shown`, one flag for each of all; whose parent is not shown is a root. They
/// are cut after `width`; 0: never.
std::string tree_text(const Forest& forest, const std::vector<bool>& shown, const Look& look,
                      std::size_t width, WallTime now);

/// One object a line, parents before their children.
std::string tree_json(const Forest& forest, const std::vector<bool>& shown, WallTime now);

}  // namespace tend
