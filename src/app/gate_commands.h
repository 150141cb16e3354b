// `tend gate`: messages for an agent, whether it is up or down.
#pragma once

#include "app/command.h"

namespace tend {

int gate_receive_command(const Arguments& arguments, World& world);
int gate_next_command(const Arguments& arguments, World& world);
int gate_done_command(const Arguments& arguments, World& world);
int gate_fail_command(const Arguments& arguments, World& world);
int gate_retry_command(const Arguments& arguments, World& world);
int gate_list_command(const Arguments& arguments, World& world);
int gate_show_command(const Arguments& arguments, World& world);
int gate_status_command(const Arguments& arguments, World& world);
int gate_resume_command(const Arguments& arguments, World& world);
int gate_release_command(const Arguments& arguments, World& world);
int gate_serve_command(const Arguments& arguments, World& world);

}  // namespace tend
