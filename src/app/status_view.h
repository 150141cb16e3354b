// The table of `tend status`: a line that counts, then a row for each agent under its group, and
// below one that needs you the command to type.
#pragma once

#include <span>
#include <string>

#include "app/look.h"
#include "base/time.h"
#include "run/roster.h"

namespace tend {

struct Counts {
  std::size_t needs_you = 0;
  std::size_t working = 0;
  std::size_t waiting = 0;
  std::size_t done = 0;
  std::size_t hidden = 0;  // over for long, and not shown

  [[nodiscard]] std::size_t shown() const { return needs_you + working + waiting + done; }
};

/// `shown` points into `all`. Rows are cut after `columns`; 0: never.
std::string status_table(std::span<const Entry* const> shown, std::span<const Entry> all,
                         const Counts& counts, const Look& look, std::size_t columns, WallTime now);

}  // namespace tend
