// The kernel's handle of one process: asked, signalled and reaped through it, never by number.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <optional>

#include "base/time.h"
#include "os/linux/fd.h"
#include "os/process.h"

namespace tend {

/// Whoever has this pid now. The errno: ESRCH nobody; ENOENT or, before Linux 6.13, EINVAL: a
/// thread that is no process.
std::expected<Fd, int> open_pidfd(std::int64_t pid);

/// Whether it and all its threads are over, reaped or not. With a `wait` it waits so long for it.
bool is_over(int pidfd, Duration wait = {});

/// 0, or the errno.
int send_signal(int pidfd, int signal);

/// Reaps it if it is our child and over.
std::optional<ExitStatus> reap(int pidfd);

/// How one ended that somebody has reaped, where the kernel keeps it (Linux 6.15). nullopt also
/// while it is not reaped.
std::optional<ExitStatus> exit_of_reaped(int pidfd);

/// From the form that wait(2) and the kernel use.
ExitStatus exit_status(int wait_status);
/// From the form that waitid(2) uses.
ExitStatus exit_status(int code, int status);

}  // namespace tend
