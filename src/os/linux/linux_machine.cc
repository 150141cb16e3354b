// Assembly, and nothing else.
#include "os/linux/linux_machine.h"

#include <signal.h>

#include "base/check.h"

namespace tend {

LinuxMachine::LinuxMachine()
    : sockets_(loop_),
      processes_(loop_),
      version_control_(processes_, clock_),
      machine_{.clock = clock_,
               .loop = loop_,
               .folders = folders_,
               .processes = processes_,
               .sockets = sockets_,
               .version_control = version_control_,
               .salvager = salvager_,
               .entropy = entropy_,
               .databases = databases_,
               .files = files_} {
  CHECK(::signal(SIGPIPE, SIG_IGN) != SIG_ERR);
}

}  // namespace tend
