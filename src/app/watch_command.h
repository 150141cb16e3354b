// `tend watch PID|tmux:SESSION|store:NAME`: keeping what something else has started.
#pragma once

#include "app/command.h"

namespace tend {

int watch_command(const Arguments& arguments, World& world);

}  // namespace tend
