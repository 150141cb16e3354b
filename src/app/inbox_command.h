// `tend inbox`: what an agent should know, above all what became of its children.
#pragma once

#include "app/command.h"
#include "os/world.h"

namespace tend {

/// Exit 0 also if nothing is new; 1 if there is no such agent or this life is over; 2 outside an
/// agent without AGENT, and where the inbox cannot be read.
int inbox_command(const Arguments& arguments, World& world);

}  // namespace tend
