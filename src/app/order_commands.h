// The operator's orders to kept agents: stop, pause, unpause, reload; and `tend watch`, which keeps
// what something else has started.
#pragma once

#include <string>
#include <string_view>

#include "app/command.h"

namespace tend {

int stop_command(const Arguments& arguments, World& world);
int pause_command(const Arguments& arguments, World& world);
int unpause_command(const Arguments& arguments, World& world);
/// The same for this one agent, said by another command.
int unpause_agent(const Arguments& arguments, World& world, std::string_view command,
                  const std::string& agent);
int reload_command(const Arguments& arguments, World& world);

}  // namespace tend
