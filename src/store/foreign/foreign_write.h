// Beats written into the stores of other systems: whole files put in the place of the old ones, one
// entry changed and every other byte kept, and only if it is of the process that is meant. What was
// written is read back: a beat that did not arrive is a failure, never a success.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/world.h"
#include "store/foreign/foreign_lock.h"
#include "store/foreign/foreign_store.h"

namespace tend {

struct StoreBeat {
  struct Process {
    std::int64_t pid = 0;
    std::optional<WallTime> started;
  };

  // Whose beat it is, as far as it is known.
  std::int64_t pid = 0;
  std::optional<WallTime> started;
  std::vector<Process> also;           // they are of the same life: an entry of theirs is its own
  std::string id;                      // agent_id, or the leader_id of a lease
  std::optional<std::uint64_t> epoch;  // of a lease

  // What else changes: in a session-state its state, context and bead, in a registry status and
  // current_task, in a json-time last_action. Nothing stays what it is; an empty text is not added
  // where there is none.
  std::optional<std::string> state;
  std::optional<std::string> context;
  std::optional<std::string> task;
  std::optional<std::string> action;
  std::string counter;  // the key, beside the time, of a number that each beat raises by one

  std::string first;   // what a json-time begins as; "" is the least that can be read
  bool heals = false;  // a text that is no object is begun anew; else it is refused

  LockHolder writer;  // who takes the lock of the store
};

/// The text with the beat of context.now in it, in the style of the time that it held. Fails if the
/// text is malformed, with line and column; if the entry is of another process, agent or epoch, or
/// does not say; if a lease ran out or was given back.
Result<std::string> with_beat(std::string_view text, const ForeignStore& store,
                              const StoreBeat& beat, const TimeContext& context);

/// REQUIRES a kind that is a file, see asks_command(). A missing session-state is made, and so are
/// an mtime and a json_time of a single key. Fails if the process whose beat it is does not live.
Result<void> write_store(Files& files, const ForeignStore& store, const StoreBeat& beat,
                         const TimeContext& context, const ProcessLives& lives);

}  // namespace tend
