// What `tend --help`, `tend COMMAND --help` and `tend help` print: text made from the command
// table, at most 80 columns wide.
#pragma once

#include <span>
#include <string>

#include "app/command.h"
#include "app/parse.h"

namespace tend {

/// The help on a command, a group of commands, or the whole program.
std::string help_text(std::span<const CommandRow> table, const Topic& topic);

/// "tend 0.1.0 (commit abc1234)" and a newline.
std::string version_line(std::string_view program = kTend);

/// `tend help`
int help_command(const Arguments& arguments, World& world);

}  // namespace tend
