// One child as its folder shows it, put into the facts that recovery plans with.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "judge/recovery.h"
#include "judge/words.h"
#include "os/machine.h"
#include "run/keeper_watch.h"
#include "store/agent_file.h"
#include "store/children.h"
#include "store/heartbeat.h"

namespace tend {

/// How the end of one is worded that was ended with its keeper, as at a shutdown: it is to go on
/// when the machine is back.
inline constexpr std::string_view kShutdownWords = "SIGTERM to its keeper";

ChildEnd child_end_of(const Heartbeat& heartbeat);

/// False if somebody ordered it to end, other than with its machine.
bool is_wanted(Folder& folder);

/// Of a process that is recorded, whoever recorded it; none if its pid is 0.
ProcessIs process_state(Machine& machine, const ProcessId& process);

/// What a parent may count on: void (unknown) where no keeper stands by it.
Verdict child_verdict_of(const Heartbeat& heartbeat, ChildKeeper keeper);

/// What is remembered of a child between two looks, so that the next one is cheap.
struct ChildSeen {
  std::optional<AgentFile> agent;    // read once: it never changes
  std::uint64_t heartbeat_file = 0;  // which one `says` was read from
  Heartbeat says;
};

/// Everything but `settled`, `merged` and `just_asked`, which only the parent knows. `folder` is
/// nullptr if it cannot be opened.
ChildFacts facts_of(Machine& machine, Folder* folder, ChildKeeper keeper, ChildSeen& seen);

}  // namespace tend
