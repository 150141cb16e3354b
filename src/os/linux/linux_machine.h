// The real machine: every part of it, made in the order in which they need each other.
#pragma once

#include "os/linux/git.h"
#include "os/linux/linux_clock.h"
#include "os/linux/linux_databases.h"
#include "os/linux/linux_entropy.h"
#include "os/linux/linux_files.h"
#include "os/linux/linux_folder.h"
#include "os/linux/linux_loop.h"
#include "os/linux/linux_process.h"
#include "os/linux/linux_salvager.h"
#include "os/linux/linux_sockets.h"
#include "os/machine.h"

namespace tend {

/// From its making on SIGPIPE is ignored in this process, so that a reader that goes away is a
/// failed write and not a death. Programs that are started must get its default back.
class LinuxMachine {
 public:
  LinuxMachine();
  LinuxMachine(const LinuxMachine&) = delete;
  LinuxMachine& operator=(const LinuxMachine&) = delete;

  [[nodiscard]] Machine& machine() { return machine_; }

 private:
  LinuxClock clock_;
  LinuxEntropy entropy_;
  LinuxFolders folders_;
  LinuxLoop loop_;
  LinuxSockets sockets_;
  LinuxProcesses processes_;
  Git version_control_;
  LinuxSalvager salvager_;
  LinuxDatabases databases_;
  LinuxFiles files_;
  Machine machine_;
};

}  // namespace tend
