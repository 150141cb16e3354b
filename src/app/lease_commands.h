// One leader at a time: tend lease ...
#pragma once

#include "app/command.h"

namespace tend {

int lease_acquire_command(const Arguments& arguments, World& world);
int lease_renew_command(const Arguments& arguments, World& world);
int lease_release_command(const Arguments& arguments, World& world);
int lease_check_command(const Arguments& arguments, World& world);
int lease_status_command(const Arguments& arguments, World& world);
int lease_watch_command(const Arguments& arguments, World& world);
int lease_run_command(const Arguments& arguments, World& world);

}  // namespace tend
