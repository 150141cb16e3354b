// `tend outbox ...`: notices that leave the machine, and those that could not.
#pragma once

#include "app/command.h"

namespace tend {

int outbox_command(const Arguments& arguments, World& world);
int outbox_show_command(const Arguments& arguments, World& world);
int outbox_retry_command(const Arguments& arguments, World& world);
int outbox_prune_command(const Arguments& arguments, World& world);

}  // namespace tend
