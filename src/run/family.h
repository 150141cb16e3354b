// Growing a tree: whose child a new agent is, and its place below that. What stands here is done by
// the command that asks; the parent's keeper starts the child.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "os/machine.h"
#include "os/world.h"
#include "store/agent_file.h"

namespace tend {

inline constexpr std::uint32_t kMostGenerations = 16;
inline constexpr std::uint32_t kMostChildrenAtOnce = 4096;  // of one agent, not settled

struct ParentAgent {
  std::unique_ptr<Folder> folder;
  AgentFile agent;
};

/// The agent that this very process is a part of, by its environment. That alone proves nothing:
/// the environment of a terminal server may be of another time. nullopt if it names none; fails,
/// with words, if what it names is over, of an earlier life, or has nothing to do with us.
Result<std::optional<ParentAgent>> find_parent(Machine& machine, Folder& home,
                                               const Environment& environment);

/// A dispatch that was cut off before its line was written was never made: nobody was told of the
/// child, and whoever asked asks again. Its folder says so from now on. Requires the lock of the
/// parent's registry.
void end_unregistered(Folder& parent);

/// A place below the parent, held until it is registered or given up.
struct ChildPlace {
  std::unique_ptr<Folder> folder;
  std::unique_ptr<File> registry;  // locked
};

/// Makes the child's folder, fills in its names and whose child it is. Refuses, and says what to
/// do, if the parent is over or being stopped, if the tree is too deep or too wide, or if the name
/// is taken.
Result<ChildPlace> reserve_child(Machine& machine, Folder& home, ParentAgent& parent,
                                 AgentFile& child);

/// No agent after all: its name is free again.
void give_up(ChildPlace& place);
/// Writes what the child is, then the line in the parent's registry: from then on it is started,
/// whatever becomes of us. Pokes the parent's keeper.
Result<void> register_child(Machine& machine, Folder& home, ParentAgent& parent, ChildPlace place,
                            const AgentFile& child);

}  // namespace tend
