// What tests of the outbox share: a lease, and notices as a line of text.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "store/outbox.h"

namespace tend {

inline constexpr Duration kLease = std::chrono::seconds{30};

/// "1 open sent 'A'; 2 update waiting 'B'", with an incident that is over in brackets.
inline std::string shown(const std::vector<Notice>& notices) {
  std::string all;
  for (const Notice& each : notices) {
    const std::string one = fmt::format(
        "{} {} {} {}", each.id, kNoticeKindWords.at(static_cast<std::size_t>(each.kind)),
        kNoticeStateWords.at(static_cast<std::size_t>(each.state)), each.payload);
    all += (all.empty() ? "" : "; ") + (each.closed ? "(" + one + ")" : one);
  }
  return all;
}

}  // namespace tend
