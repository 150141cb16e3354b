// TEND_HOME: where it is, which agents it holds, and which one a person means by a name.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/machine.h"
#include "os/world.h"
#include "store/heartbeat.h"

namespace tend {

/// $TEND_HOME, else $XDG_STATE_HOME/tend/HASH, else ~/.local/state/tend/HASH, where HASH tells the
/// repository of the working folder from others (the working folder itself where there is none).
Result<std::string> home_path(const Environment& environment, Machine& machine);

/// In the home: a folder for each tree, which is that of its root agent. Below it are folders for
/// roles, and in those the children's, and so on.
inline constexpr std::string_view kSessionsFolder = "sessions";

/// An agent as its folder shows it.
struct KnownAgent {
  std::unique_ptr<Folder> folder;  // nullptr only where there is a problem with the folder itself
  Heartbeat heartbeat;
  WallTime last_beat{};
  std::string problem;  // why the heartbeat could not be read; the rest is then empty
};

/// A bound on what a look at a home takes in; more is said to be cut.
inline constexpr std::size_t kMostAgents = 20'000;
inline constexpr int kDeepestTree = 32;

/// All agents of a home, parents before their children, older before newer. A folder that cannot be
/// read is in the list with its problem.
Result<std::vector<KnownAgent>> agents_of(Folder& home);

/// Tells of the same agents, in the same order. `open` is the agent's folder, as long as the call
/// lasts; nullptr where there is a problem with it.
using TellAgent = std::function<void(KnownAgent known, Folder* open)>;
Result<void> for_each_agent(Folder& home, const TellAgent& tell);

/// The one agent that `text` means: its name, a unique beginning of the name or of the session, or
/// the path of its folder. Of several with one name, the one that is not over; if all are, the
/// newest. The error lists what it could have meant, each as it can be typed.
Result<KnownAgent> find_agent(Folders& folders, Folder& home, const std::string& text);

/// Of two with one name in the order of agents_of(): whether the second one is the newer.
bool is_newer(const KnownAgent& before, const KnownAgent& after);

/// A new folder for an agent: made exclusively, named by the calendar and chance.
Result<std::unique_ptr<Folder>> make_dated_folder(Folder& in, WallTime now, Entropy& entropy);
/// The same, for the root of a new tree.
Result<std::unique_ptr<Folder>> make_session(Folder& home, WallTime now, Entropy& entropy);

}  // namespace tend
