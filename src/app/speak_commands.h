// `tend beat`, `tend state` and `tend ack`: what programs inside an agent say to its keeper.
#pragma once

#include "app/command.h"
#include "os/world.h"

namespace tend {

/// Exit 0 if the keeper can read it now, with a line that says for which agent and life; 1 if this
/// life is over; 2 outside an agent, and where it could not be written.
int beat_command(const Arguments& arguments, World& world);
int state_command(const Arguments& arguments, World& world);
int ack_command(const Arguments& arguments, World& world);

}  // namespace tend
