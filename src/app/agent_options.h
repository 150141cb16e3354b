// The options that `tend run` and `tend watch` share: from words on the command line to an agent's
// file.
#pragma once

#include <string_view>

#include "app/command.h"
#include "base/result.h"
#include "judge/policy.h"
#include "os/machine.h"
#include "run/hire.h"
#include "store/agent_file.h"
#include "store/foreign/foreign_agent.h"
#include "store/heartbeat.h"

namespace tend {

/// What an agent may be called: letters, digits, '.', '_' and '-', at most 64 of them, and in front
/// neither '.' nor '-'.
bool is_agent_name(std::string_view name);

/// Everything about how an agent is kept. `command` is empty for one that is only watched;
/// `working_folder` is absolute. A person is told on standard error what is not as it could be.
Result<AgentFile> agent_from_options(const Arguments& arguments, World& world, Machine& machine,
                                     const std::string& working_folder,
                                     std::vector<std::string> command);

/// What the user's configuration says of an agent of another system. Fails if it names no stores.
Result<ForeignAgent> stores_of(const std::string& name, const std::string& role, World& world);

/// The policy that an agent's file names, or that its stores have, with its limits.
Result<Policy> policy_of(const AgentFile& agent, World& world);

/// How to start a keeper from here.
Result<KeeperProgram> keeper_program(World& world, Machine& machine, const Folder& home);

/// Waits until the agent runs or is known not to. Runs the machine's loop.
Result<Heartbeat> wait_for_start(Machine& machine, Folder& folder);

/// Waits until the agent has a keeper, or is over. Runs the machine's loop.
Result<void> wait_for_keeper(Machine& machine, Folder& folder);

}  // namespace tend
