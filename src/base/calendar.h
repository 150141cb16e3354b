// Times of the calendar as other programs write them.
#pragma once

#include <optional>
#include <string_view>

#include "base/time.h"

namespace tend {

/// Reads RFC 3339 ("2026-01-03T12:15:00Z", with up to nine decimals, with an offset such as
/// +02:00, with a space in place of the T) and a date alone, which is its midnight in UTC. nullopt
/// for what no calendar has.
std::optional<WallTime> parse_calendar(std::string_view text);

}  // namespace tend
