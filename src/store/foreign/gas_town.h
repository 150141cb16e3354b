// Gas Town: where a town keeps the heartbeats of its sessions and of its deacon, and a beat into
// each of them. Below the root of the town:
//
//   mayor/town.json                   what makes it one; in a young town `mayor` alone
//   .runtime/heartbeats/SESSION.json  session-state
//   .runtime/pids/SESSION.pid         PID|<ps lstart>, or PID: whose session it is
//   .runtime/deacon/paused.json       {"paused","reason"}
//   deacon/heartbeat.json             {"timestamp","cycle","last_action",…}
//   deacon/.deacon-heartbeat          touched; what older scripts look at
//
// The third store of the deacon is a label of its work item, which only `bd` can set.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "os/world.h"
#include "store/foreign/foreign_store.h"

namespace tend {

/// The work item of the deacon.
inline constexpr std::string_view kDeaconBead = "hq-deacon";

/// Half of what makes the deacon stale: each refresh of its label is a commit in their database.
inline constexpr Duration kLabelIsFresh = std::chrono::seconds{150};
/// The label of its work item, to be read and set. Their programs are told which database is
/// meant: in a work tree they would find another.
ForeignStore deacon_label(const std::string& town);

/// Whether there is something at a path; `/.` at its end asks for a folder.
using IsThere = std::function<bool(const std::string& path)>;

/// The root of the town that an absolute folder is in. Of several the innermost, unless the folder
/// is in the work tree of a worker: what is checked out there may look like a town. A folder
/// `mayor` alone counts if there is nothing better.
std::optional<std::string> find_town(std::string_view folder, const IsThere& is_there);
bool is_town(const std::string& root, const IsThere& is_there);

/// Fails unless it can be the name of a file.
Result<void> check_session_name(std::string_view session);

/// Why the deacon is paused, "" if nobody said; nullopt if it is not.
Result<std::optional<std::string>> deacon_pause(Files& files, const std::string& town);

/// The process that a session is of, as far as that is noted.
StoreReading read_session_process(Files& files, const std::string& town, const std::string& session,
                                  const TimeContext& context);
/// Whether a process that was started then can be the one that `ps` said it of: its clock is
/// local, which is some quarters of an hour from UTC.
bool is_same_start(WallTime started, WallTime said_by_ps);

// Each names the file if it fails, and has read back what it wrote.

/// `state` as the session-state has it; without a context none stays.
Result<void> beat_session(Files& files, const std::string& town, const std::string& session,
                          const std::string& state, const std::string& words,
                          const TimeContext& context);
/// Raises its cycle; without an action none stays.
Result<void> beat_deacon(Files& files, const std::string& town, const std::string& action,
                         const TimeContext& context);
Result<void> touch_deacon(Files& files, const std::string& town, const TimeContext& context);

}  // namespace tend
