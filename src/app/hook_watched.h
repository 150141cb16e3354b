// Which watched session a process belongs to. `tend watch` keeps processes that it did not start,
// so their environment says nothing; instead it leaves, for each, a small file that is named by the
// process and says where its folder is. A hook looks for its own ancestors there.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "os/caller.h"
#include "os/machine.h"
#include "os/world.h"

namespace tend {

/// The folder of these files: TEND_HOME/watched, else `tend/watched` where XDG keeps states. It
/// depends on the environment alone: a hook may run anywhere.
Result<std::string> watched_path(const Environment& environment);

/// Notes that `process` is kept in `folder`, and forgets processes that are gone.
Result<void> note_watched(Machine& machine, const Environment& environment,
                          const ProcessId& process, const std::string& folder);

/// What is kept of the nearest of `ancestors` that is watched.
struct WatchedAncestor {
  std::string folder;
  std::size_t distance = 0;  // 0: the first of them
};
std::optional<WatchedAncestor> find_watched(Files& files, const Environment& environment,
                                            std::span<const Ancestor> ancestors);

}  // namespace tend
