// How one agent is asked whether it still answers, from all places where that can be said:
// `[probe.NAME]`, and HEARTBEAT_INTERVAL and HEARTBEAT_TIMEOUT in its environment or in a
// `.env`. What stands nearer to the agent wins: the environment, then the file, then the table.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "os/files.h"
#include "store/agent_file.h"
#include "store/config.h"
#include "store/probe_settings.h"

namespace tend {

/// A path as people write it: `~/` stands for HOME.
std::string path_of_user(std::string path, std::span<const std::string> environment);

/// Nothing: it is not asked. Fails on times that make no sense, and names where they stand.
Result<std::optional<ProbeSettings>> probe_of(const Config& config, const AgentFile& agent,
                                              std::span<const std::string> environment,
                                              Files& files);

}  // namespace tend
