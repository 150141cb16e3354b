// `tend salvage`: the work that was saved before something was ended, and how to have it back.
#pragma once

#include "app/command.h"
#include "os/world.h"

namespace tend {

/// Exit 0; 1 if there is no such work; 2 if the home or the repository cannot be read.
int salvage_list_command(const Arguments& arguments, World& world);
int salvage_show_command(const Arguments& arguments, World& world);
/// The same; 1 also if it could not be restored, or not all of it.
int salvage_restore_command(const Arguments& arguments, World& world);

}  // namespace tend
