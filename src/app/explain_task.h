// `tend explain task:ID`: who holds a task, how silent it is, what was done about that and why, and
// what comes next.
#pragma once

#include <string>

#include "app/command.h"
#include "os/world.h"

namespace tend {

/// How a task is meant where an agent could be.
inline constexpr std::string_view kTaskPrefix = "task:";

int explain_task(const Arguments& arguments, World& world, const std::string& id);

}  // namespace tend
