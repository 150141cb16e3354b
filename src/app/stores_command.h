// `tend stores`: all stores of agents of other systems, side by side.
#pragma once

#include "app/command.h"

namespace tend {

int stores_command(const Arguments& arguments, World& world);

}  // namespace tend
