// `tend explain`: why an agent is judged as it is: every sign with its age and limit, and what
// follows.
#pragma once

#include "app/command.h"
#include "os/world.h"

namespace tend {

int explain_command(const Arguments& arguments, World& world);

}  // namespace tend
