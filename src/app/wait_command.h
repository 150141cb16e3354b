// `tend wait`: returns when an agent has come to a state.
#pragma once

#include <array>
#include <string_view>

#include "app/command.h"
#include "os/world.h"

namespace tend {

/// What can be waited for: two words for the end, and every verdict.
inline constexpr std::array<std::string_view, 12> kWaitWords{
    "finished", "done",    "starting", "working",  "waiting", "idle",
    "suspect",  "stalled", "dead",     "orphaned", "looping", "unknown"};

int wait_command(const Arguments& arguments, World& world);

}  // namespace tend
