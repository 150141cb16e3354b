// `.heartbeat`: one JSON object that says who an agent is, that it lives, and what is thought of
// it.
//
//   pid, started            the agent's process; before it starts, its keeper's
//   parent_heartbeat        absolute path, or ""
//   role, status            starting | running | paused | completed | withdrawn
//   boot_id, pid_ns, start_ticks, keeper_pid, keeper_start_ticks, life, agent, session
//   verdict, phase, since, because, next, budget, outcome, ended_by, exit, note, leaving,
//   stays, asks_parent, work_phase, task, children, divergence, degraded
//
// Its mtime is the last beat. Other systems write the first five fields only; all of ours may be
// missing. Anything else in the file is kept out of our way and lost at the next rewrite.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "judge/signal.h"
#include "judge/words.h"
#include "os/folder.h"
#include "os/process.h"

namespace tend {

inline constexpr std::string_view kHeartbeatFile = ".heartbeat";

/// How an agent's work ended.
enum class WorkOutcome : std::uint8_t {
  none,
  done,
  withdrawn,
  escalated,
  orphaned,
  stopped,
  failed,
};
inline constexpr std::array<std::string_view, 7> kWorkOutcomeWords{
    "none", "done", "withdrawn", "escalated", "orphaned", "stopped", "failed"};

struct Heartbeat {
  std::string agent;    // its name
  std::string session;  // the tree it belongs to
  std::string role;
  std::string parent_heartbeat;
  Status status = Status::starting;
  ProcessId process;  // pid 0: never started
  double started = 0;
  ProcessId keeper;  // boot id and pid namespace as in `process`
  std::uint32_t life = 0;

  Verdict verdict = Verdict::unknown;
  Phase phase = Phase::start;
  double since = 0;         // of the verdict, by the calendar
  double silent_since = 0;  // the last real sign of one that is silent; 0: it is not
  std::vector<std::string> because;
  std::string next;                 // what its keeper waits to do, in words; "" if nothing
  double next_at = 0;               // by the calendar; 0: nothing
  std::uint32_t resumes_spent = 0;  // since the last refill
  std::uint32_t resumes_allowed = 0;

  WorkOutcome outcome = WorkOutcome::none;
  std::string ended_by;      // "exit 0", "tend stop", "SIGKILL"
  Exit exit;                 // of the last life
  std::string note;          // one line for people: why a start failed, what STATUS= said
  bool leaving = false;      // its parent is gone: it is given time to end, and nobody may adopt it
  bool stays = false;        // its own work is over, and it stays for its children
  bool asks_parent = false;  // it waits for its own parent
  bool person_told = false;  // it is in trouble, and left to a person who was told of it
  std::string work_phase;    // how far its work is, in its own words; ""
  std::string task;          // the work item that it is for; ""
  std::uint32_t children = 0;  // that are not settled
  std::string divergence;      // what its stores disagree about, once people were told of it; ""
  double degraded_since = 0;   // it takes no messages since then, by the calendar; 0: it does

  bool operator==(const Heartbeat&) const = default;
};

/// True for completed and withdrawn: nothing more will come.
constexpr bool is_terminal(Status status) {
  return status == Status::completed || status == Status::withdrawn;
}

std::string format_heartbeat(const Heartbeat& heartbeat);
/// Any JSON object is accepted; wrong types and hostile values count as missing.
Result<Heartbeat> parse_heartbeat(std::string_view text);

/// nullopt if there is none. Fails on a file that is not ours or no JSON object.
Result<std::optional<Heartbeat>> read_heartbeat(Folder& folder);

}  // namespace tend
