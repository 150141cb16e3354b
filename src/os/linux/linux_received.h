// Bytes that processes received over TCP, as the kernel counts them for each socket. That none came
// is a sign of a dead line; that some came proves nothing, they may be keep-alives.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace tend {

/// By the sockets that are open now; nullopt if they have none, or the kernel does not tell.
std::optional<std::uint64_t> received_bytes(std::span<const std::int64_t> pids);

}  // namespace tend
