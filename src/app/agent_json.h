// One agent as every reader with --json gives it; docs/json.md is its contract.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include "base/time.h"
#include "run/roster.h"

namespace tend {

/// `all` is where `entry.parent` points into; it may be empty.
nlohmann::ordered_json agent_json(const Entry& entry, std::span<const Entry> all = {});

/// Seconds since 1970 to the millisecond; null for a time that is not known.
nlohmann::ordered_json calendar_json(WallTime at);
/// Seconds to the millisecond; null for no limit.
nlohmann::ordered_json seconds_json(Duration duration);
/// {"code":1}, {"signal":9} or null.
nlohmann::ordered_json exit_json(const Exit& exit);

/// The object on one line, with its newline. Bytes that are no UTF-8 become U+FFFD.
std::string json_line(const nlohmann::ordered_json& json);

}  // namespace tend
