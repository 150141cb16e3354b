// A notice of the outbox in JSON and for people.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "app/look.h"
#include "base/time.h"
#include "store/outbox.h"

namespace tend {

nlohmann::ordered_json notice_json(const Notice& notice);

/// Whom channels lead to, where their names do not say it: "telegram 42" for "reply:3".
using ChannelNames = std::map<std::string, std::string, std::less<>>;

/// Everything about one notice, a line each, and its payload.
std::string notice_in_words(const Notice& notice, const ChannelNames& names, WallTime now);

/// A line for each. `width` is that of the screen, or 0.
std::string notices_for_people(std::span<const Notice> notices, const ChannelNames& names,
                               const Look& look, std::size_t width, WallTime now);

}  // namespace tend
