// `tend events`: what happened to all agents, in the order it happened, and as it happens.
#pragma once

#include "app/command.h"
#include "os/world.h"

namespace tend {

int events_command(const Arguments& arguments, World& world);

}  // namespace tend
