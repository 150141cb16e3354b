// Starting programs: gated children, programs that leave us, and the one that takes our place.
#pragma once

#include <expected>
#include <memory>
#include <string>

#include "base/result.h"
#include "os/linux/linux_held.h"
#include "os/linux/linux_loop.h"
#include "os/linux/linux_proc_files.h"
#include "os/linux/linux_reaper.h"
#include "os/linux/linux_start.h"
#include "os/process.h"

namespace tend {

/// A child of a fork that is on its way: it follows the plan.
struct Forked {
  std::unique_ptr<LinuxProcess> process;
  Fd line;
};

/// Forks a child that follows the plan. `group` is a folder of the system's groups or "".
std::expected<Forked, NotStarted> fork_child(LinuxLoop& loop, Reaper& reaper, const Place& place,
                                             Plan& plan, bool gated, const std::string& group);

std::expected<std::unique_ptr<GatedChild>, NotStarted> spawn_gated(LinuxLoop& loop, Reaper& reaper,
                                                                   const Place& place,
                                                                   const Launch& launch);
Result<void> start_detached(Reaper& reaper, const Launch& launch);
/// Runs `command` with `environment`; nothing else of the launch is used. Signals that are blocked
/// stay so and wait for the new program: no order is lost on the way.
Result<void> become_program(const Launch& launch);

}  // namespace tend
