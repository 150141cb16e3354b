// Everything of the machine that a long-running process of ours may touch. os/linux has the real
// one, os/sim a twin in memory; whole keepers run on either.
#pragma once

#include "os/clock.h"
#include "os/database.h"
#include "os/entropy.h"
#include "os/files.h"
#include "os/folder.h"
#include "os/loop.h"
#include "os/process.h"
#include "os/sockets.h"
#include "os/version_control.h"

namespace tend {

struct Machine {
  Clock& clock;
  Loop& loop;
  Folders& folders;
  Processes& processes;
  Sockets& sockets;
  VersionControl& version_control;
  Salvager& salvager;
  Entropy& entropy;
  Databases& databases;
  Files& files;
};

}  // namespace tend
