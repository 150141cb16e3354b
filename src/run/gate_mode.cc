// A verdict is void the moment its keeper's lock is free.
#include "run/gate_mode.h"

#include <cmath>

#include "base/quote.h"
#include "run/child_look.h"
#include "run/hire.h"
#include "store/heartbeat.h"
#include "store/home_database.h"
#include "store/life_record.h"

namespace tend {
namespace {

WallTime calendar_of(double seconds) { return from_database_time(std::llround(seconds * 1000)); }

/// "stalled: nothing new on its stream for 20m".
std::string words_of(const Heartbeat& says) {
  std::string words(word(says.verdict));
  if (!says.because.empty()) words += ": " + on_one_line(says.because.front());
  return words;
}

/// Nothing of its last life is left, by the word of the kernel or of the keeper that saw it end.
bool is_proven_gone(Machine& machine, Folder& agent, const Heartbeat& says) {
  const auto lock = look_at_lock(agent);
  if (!lock) return false;
  if (*lock && (*lock)->record.life > 0) {
    const ProcessId& process = (*lock)->record.process;
    return process.pid == 0 || process_state(machine, process) == ProcessIs::gone;
  }
  // Before its first life the heartbeat names the keeper.
  if (says.life == 0 || says.process == says.keeper) return false;
  return process_state(machine, says.process) == ProcessIs::gone;
}

}  // namespace

GateMode gate_mode_of(Machine& machine, Folder& agent) {
  GateMode mode;
  const auto read = read_heartbeat(agent);
  if (!read || !*read) return mode;
  const Heartbeat& says = **read;
  mode.over = is_terminal(says.status);
  if (mode.over) return mode;
  mode.kept = has_keeper(machine, agent);
  if (mode.kept) {
    mode.looping = says.verdict == Verdict::looping;
    mode.down = says.degraded_since > 0;
    if (!mode.down) return mode;
    mode.why = words_of(says);
    mode.since = calendar_of(says.degraded_since);
    return mode;
  }
  mode.down = is_proven_gone(machine, agent, says);
  if (mode.down) mode.why = "its process is gone, and nobody keeps it";
  return mode;
}

}  // namespace tend
