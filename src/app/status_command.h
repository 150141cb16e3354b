// `tend status`: all agents, grouped by what they want of you.
#pragma once

#include "app/command.h"
#include "os/world.h"

namespace tend {

int status_command(const Arguments& arguments, World& world);

}  // namespace tend
