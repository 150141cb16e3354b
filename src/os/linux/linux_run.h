// Commands that are run to their end: git, tmux, what a person configured.
#pragma once

#include <functional>

#include "base/result.h"
#include "os/linux/linux_loop.h"
#include "os/linux/linux_proc_files.h"
#include "os/linux/linux_reaper.h"
#include "os/process.h"

namespace tend {

/// As Processes::run(). The end is the end of the command itself: what it left behind in the
/// background lives on, unless the deadline came first.
[[nodiscard]] Subscribed run_command(LinuxLoop& loop, Reaper& reaper, const Result<Place>& place,
                                     const Run& run, std::function<void(Result<Ran>)> done);

}  // namespace tend
