// `tend heartbeat --notify`: the orchestrator is told that a worker lives.
#pragma once

#include <optional>
#include <string>

#include "app/command.h"
#include "base/result.h"
#include "base/time.h"
#include "os/database.h"

namespace tend {

struct HeartbeatNews {
  std::string task;
  std::string worker;
  std::optional<std::string> message;
};

/// TEND_ORCHESTRATOR, or "Orchestrator".
std::string orchestrator_of(const Environment& environment);

/// One letter until it is acknowledged, however often the worker beats. Its id.
Result<std::int64_t> tell_orchestrator(Database& database, const std::string& orchestrator,
                                       const HeartbeatNews& news, WallTime now);

/// `tend heartbeat`: the beat and, with --notify, the letter once it counts.
int heartbeat_and_letter_command(const Arguments& arguments, World& world);

}  // namespace tend
