// `tend service start|stop|status|run|install`: the beater of a pid file.
#pragma once

#include <string>
#include <vector>

#include "app/command.h"
#include "app/home_option.h"
#include "base/result.h"

namespace tend {

int service_start_command(const Arguments& arguments, World& world);
int service_stop_command(const Arguments& arguments, World& world);
int service_status_command(const Arguments& arguments, World& world);
/// Be the service, until it is told to end or its subject is gone.
int service_run_command(const Arguments& arguments, World& world);
int service_install_command(const Arguments& arguments, World& world);

/// Starts the service of an agent that was just taken on, and waits until it is at work: its
/// number.
Result<std::int64_t> start_service_of(World& world, Home& home, const std::string& agent_folder);

}  // namespace tend
