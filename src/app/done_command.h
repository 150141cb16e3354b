// `tend done`: an agent says what became of its work, or how far it is.
#pragma once

#include <array>
#include <string_view>

#include "app/command.h"
#include "os/world.h"

namespace tend {

/// What an agent may say; that it was stopped or orphaned only others can.
inline constexpr std::array<std::string_view, 3> kSaidOutcomes{"done", "withdrawn", "escalated"};

/// Exit 0 if it stands in the agent's folder, with a line that says for which agent and life; 1 if
/// this life is over; 2 outside an agent, and where it could not be written.
int done_command(const Arguments& arguments, World& world);

}  // namespace tend
