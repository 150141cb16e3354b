// The machine of one simulated process: each part asks the kernel in the name of its handle.
#pragma once

#include <utility>

#include "os/machine.h"
#include "os/sim/sim_databases.h"
#include "os/sim/sim_files.h"
#include "os/sim/sim_folder.h"
#include "os/sim/sim_kernel.h"
#include "os/sim/sim_loop.h"
#include "os/sim/sim_process.h"
#include "os/sim/sim_sockets.h"
#include "os/sim/sim_version_control.h"

namespace tend {

struct SimMachine {
  explicit SimMachine(SimHandlePtr its_handle)
      : handle(std::move(its_handle)),
        clock(handle),
        loop(handle),
        folders(handle),
        processes(handle),
        sockets(handle),
        version_control(handle),
        salvager(handle),
        entropy(handle),
        databases(handle),
        files(handle) {}
  SimMachine(const SimMachine&) = delete;
  SimMachine& operator=(const SimMachine&) = delete;

  SimHandlePtr handle;
  SimClock clock;
  SimLoop loop;
  SimFolders folders;
  SimProcesses processes;
  SimSockets sockets;
  SimVersionControl version_control;
  SimSalvager salvager;
  SimEntropy entropy;
  SimDatabases databases;
  SimDiskFiles files;
  Machine machine{clock,           loop,     folders, processes, sockets,
                  version_control, salvager, entropy, databases, files};
};

}  // namespace tend
