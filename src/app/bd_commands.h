// The commands of `bd`; bd_program.h says what that is.
#pragma once

#include "app/command.h"

namespace tend {

int bd_heartbeat_command(const Arguments& arguments, World& world);
int bd_list_command(const Arguments& arguments, World& world);
int bd_show_command(const Arguments& arguments, World& world);
int bd_create_command(const Arguments& arguments, World& world);
int bd_update_command(const Arguments& arguments, World& world);
int bd_close_command(const Arguments& arguments, World& world);
int bd_reopen_command(const Arguments& arguments, World& world);
int bd_reclaim_command(const Arguments& arguments, World& world);
int bd_stale_command(const Arguments& arguments, World& world);

}  // namespace tend
