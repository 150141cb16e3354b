// `tend config check`: may this configuration be used, and do its numbers fit together?
#pragma once

#include "app/command.h"
#include "os/world.h"

namespace tend {

/// Checks the named FILE, or the user's own configuration. Exit 0 if it can be used, with warnings
/// or without; 2 if it cannot.
int config_check_command(const Arguments& arguments, World& world);

}  // namespace tend
