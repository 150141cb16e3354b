// `tend task ...`, `heartbeat`, `list` and `reclaim`.
#pragma once

#include "app/command.h"

namespace tend {

int task_add_command(const Arguments& arguments, World& world);
int task_claim_command(const Arguments& arguments, World& world);
int task_show_command(const Arguments& arguments, World& world);
int task_update_command(const Arguments& arguments, World& world);
int task_release_command(const Arguments& arguments, World& world);
int task_close_command(const Arguments& arguments, World& world);
int task_reopen_command(const Arguments& arguments, World& world);
int heartbeat_command(const Arguments& arguments, World& world);
int list_command(const Arguments& arguments, World& world);
int reclaim_command(const Arguments& arguments, World& world);

}  // namespace tend
