// Why: the evidence behind a verdict or an action, kept as numbers and put into words only when
// somebody reads it.
#pragma once

#include <cstdint>
#include <string>

#include "base/name.h"
#include "base/time.h"
#include "judge/signal.h"
#include "judge/words.h"

namespace tend {

/// What a reason speaks of. The words for each are in reason.cc.
enum class Because : std::uint8_t {
  nothing_seen,         // no spawn and no sign yet
  no_sign_yet,          // starting: age of limit
  silent_within,        // last real sign: age of limit, in phase
  silent_past,          // silent past the limit, in phase
  tool_open,            // tool NAME open: age of limit
  compacting,           // age of limit
  question_open,        // age, how many
  credentials_refused,  // age
  provider_holds,       // cause NAME, age, until in `limit` from now
  child_at_work,        // child NAME, age of its word
  child_in_doubt,       // child NAME, age of limit
  children_ended,       // all ended: age of limit
  background_at_work,   // count, age of limit
  background_ended,     // age of limit
  turn_over,            // age
  idle_by_word,         // says idle, and shows no process: age of limit
  work_waiting,         // messages or tasks: count, age of limit
  turn_failed,          // the turn ended in error NAME: age of limit
  exiting_announced,    // age of limit
  stop_ordered,         // age of limit
  beats_within,         // last beat: age of limit
  paused,               // age
  process_is,           // process STATE
  process_exited,       // exit
  killed_by_us,         // age
  clean_end,            // exit
  record_says,          // heartbeat file says NAME
  record_and_turn,      // completed, and then a turn began
  idle_in_tool,         // says idle with tool NAME open: age
  stuck_by_own_word,    // age
  stopped_without_pause,
  parent_dead,  // age of limit
  parent_replaced,
  observer_unfit,  // NAME: lag, suspend, fault, fleet; remaining in `limit`
  same_end_again,  // count, cause NAME, phase
  budget_spent,    // count over all lives
  weak_sign,       // the latest weak sign: age
  planes_missing,  // count
  fleet_silent,    // count of `limit`
  not_promised,    // this policy never kills for silence
  still_there,     // the process is still there, age after the kill
  not_started,     // no new life, age after resume
  hold_over,       // the provider's hold is over
  works_again,
  no_sign_at_all,  // policy plain: age
  lingers,         // finished and still there: age
  orphan_died,
  ladder_rung,       // a configured rung: age of limit
  not_answered_yet,  // it was asked: age of limit
};

struct Reason {
  Because because = Because::nothing_seen;
  Phase phase = Phase::start;
  ProcessState process = ProcessState::unknown;
  std::uint32_t count = 0;
  Duration age{};
  Duration limit{};
  Exit exit;
  Name name;
};

/// One clause in plain words: "tool Bash open 10 s of 660 s".
std::string describe(const Reason& reason);

}  // namespace tend
