// `tend patrol`: be the patrol of a home, start one, end it, or see what it would do.
#pragma once

#include "app/command.h"
#include "os/world.h"

namespace tend {

int patrol_command(const Arguments& arguments, World& world);

}  // namespace tend
