// The operator's orders to kept agents: stop, pause, unpause, reload; and `tend watch`, which keeps
// what something else has started.
#pragma once

#include "app/command.h"

namespace tend {

int stop_command(const Arguments& arguments, World& world);
int pause_command(const Arguments& arguments, World& world);
int unpause_command(const Arguments& arguments, World& world);
int reload_command(const Arguments& arguments, World& world);

}  // namespace tend
