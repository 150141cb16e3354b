// `tend logs`: what an agent printed, as it printed it.
#pragma once

#include "app/command.h"
#include "os/world.h"

namespace tend {

int logs_command(const Arguments& arguments, World& world);

}  // namespace tend
