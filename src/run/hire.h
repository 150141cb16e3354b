// Taking an agent on: its folder, its file, its keeper. What stands here is done by the command
// that a person typed; everything after it is the keeper's.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/machine.h"
#include "store/agent_file.h"
#include "store/life_record.h"

namespace tend {

/// How this program is started again as a keeper.
struct KeeperProgram {
  std::string program;                   // absolute
  std::string home;                      // absolute
  std::vector<std::string> environment;  // without the marks of any agent
};

/// Makes a session folder in `home` with `agent.json` in it. Fills in the names of agent and
/// session where they are empty. Refuses, and says what to do, if an agent of that name is not over
/// or what is to be watched has a keeper. Nothing runs yet.
Result<std::unique_ptr<Folder>> make_agent(Machine& machine, Folder& home, AgentFile& agent);

/// The same in a folder that `make` makes, for one that belongs to a session already.
Result<std::unique_ptr<Folder>> make_agent_in(
    Machine& machine, Folder& home, AgentFile& agent,
    const std::function<Result<std::unique_ptr<Folder>>()>& make);
/// Writes what an agent is into its folder, anew if it is there, and by which name it is known.
Result<void> write_agent(Folder& home, Folder& folder, const AgentFile& agent);

/// False if another agent that is not over is known by that name: a power cut can take the word
/// that one is over, and leave that its name was given away. A name that nobody has is taken again.
Result<bool> hold_name(Machine& machine, Folder& home, const std::string& name,
                       const std::string& folder);

struct KeeperStart {
  bool inherit_input = false;
  bool again = false;  // also one that is over, if that was no end of its own: it is to go on
};
/// Starts a keeper for the folder, with no tie to us. One that finds the lock taken goes by itself.
Result<void> start_keeper(Machine& machine, const KeeperProgram& keeper, const std::string& folder,
                          KeeperStart how);

/// Tells the keeper that something in its folder wants to be read. That there is none is no error:
/// the next one reads everything.
void poke_keeper(Machine& machine, Folder& folder);

/// Whether somebody holds the keeper's lock; a child that outlives its killed keeper for a moment
/// does not count.
bool has_keeper(Machine& machine, Folder& folder);

}  // namespace tend
