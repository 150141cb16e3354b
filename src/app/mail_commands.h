// `tend mail ...`: letters between agents and people.
#pragma once

#include "app/command.h"

namespace tend {

int mail_send_command(const Arguments& arguments, World& world);
int mail_inbox_command(const Arguments& arguments, World& world);
int mail_read_command(const Arguments& arguments, World& world);
int mail_ack_command(const Arguments& arguments, World& world);
int mail_thread_command(const Arguments& arguments, World& world);

}  // namespace tend
