// `tend hooks install|uninstall|status`: `tend hook` in the settings of coding agents.
#pragma once

#include "app/command.h"
#include "os/world.h"

namespace tend {

/// Exit 0 if the settings are now as asked for, also if they were before; 1 if they could not be
/// read or written, and then nothing was changed.
int hooks_install_command(const Arguments& arguments, World& world);
int hooks_uninstall_command(const Arguments& arguments, World& world);

/// Exit 0 if every settings file could be read, 1 if not.
int hooks_status_command(const Arguments& arguments, World& world);

}  // namespace tend
