// `tend recover`: brings back what died with its keeper or with the machine.
#pragma once

#include "app/command.h"

namespace tend {

int recover_command(const Arguments& arguments, World& world);

}  // namespace tend
