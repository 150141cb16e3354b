// `tend outbox send`: what is due goes out now, whoever put it there.
#pragma once

#include "app/command.h"
#include "os/world.h"

namespace tend {

/// One round over the outbox of the home, a line for each notice. Exit 0 if all that was due was
/// heard, 1 if not.
int outbox_send_command(const Arguments& arguments, World& world);

}  // namespace tend
