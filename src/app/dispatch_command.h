// `tend dispatch`: a child below the agent that asks; and how a nested `tend run` becomes one.
#pragma once

#include <memory>
#include <string>

#include "app/command.h"
#include "app/home_option.h"
#include "base/result.h"
#include "run/family.h"
#include "store/agent_file.h"

namespace tend {

int dispatch_command(const Arguments& arguments, World& world);

/// Makes the child's place and work tree, registers it, and sees to it that its parent has a keeper
/// to start it. Fails with words, and nothing was started.
Result<std::unique_ptr<Folder>> make_child(const Arguments& arguments, World& world, Home& home,
                                           ParentAgent& parent, AgentFile& child);

/// `--worktree new[:BRANCH]`: a new work tree on a branch of its own, in which the agent then
/// works. Anything else: nothing is done. Runs the machine's loop.
Result<void> make_worktree_asked_for(const Arguments& arguments, Home& home, AgentFile& agent,
                                     const std::string& folder);

}  // namespace tend
