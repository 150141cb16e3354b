// `tend signals`: what an adapter hears in a recorded stream, as the signal lines of a trace.
#pragma once

#include "app/command.h"

namespace tend {

/// Exit 0 if the stream was read to its end, 2 if a file cannot be read or an option is wrong.
int signals_command(const Arguments& arguments, World& world);

}  // namespace tend
