// A conversation between two simulated processes.
#pragma once

#include <memory>
#include <utility>

#include "os/sim/sim_kernel.h"
#include "os/sockets.h"

namespace tend {

/// Its two ends. One whose process dies is closed, as the kernel would.
std::pair<std::unique_ptr<Connection>, std::unique_ptr<Connection>> sim_connection(
    const SimHandlePtr& one, const SimHandlePtr& other);

}  // namespace tend
