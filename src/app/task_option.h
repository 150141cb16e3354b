// `--task`: whether an agent may begin to work on a task, asked before anything of it is made.
#pragma once

#include "app/home_option.h"
#include "base/result.h"
#include "os/world.h"
#include "store/agent_file.h"

namespace tend {

/// The error says why the task of `agent` is not to be had, and who holds it. Runs the machine's
/// loop. Its keeper asks again when it claims: somebody may be faster.
Result<void> check_task_is_free(World& world, Home& home, const AgentFile& agent);

}  // namespace tend
