// `tend tree`: who stands below whom, and who waits for whom.
#pragma once

#include "app/command.h"
#include "os/world.h"

namespace tend {

/// Exit 0 if all is well, 3 if somebody in the trees needs you, 1 if there is no such agent, 2 if
/// the home cannot be read.
int tree_command(const Arguments& arguments, World& world);

}  // namespace tend
