// The stores that only a command can ask: a label of a work item, the JSON of any program, a
// session of tmux. What to run, and what the answer says; who runs it is above.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/process.h"
#include "store/foreign/foreign_store.h"

namespace tend {

/// Whether a store of this kind is asked through a command.
bool asks_command(StoreKind kind);

/// Its own words, without a shell, with a deadline and a bound. REQUIRES asks_command().
Run command_of(const ForeignStore& store);

/// Why there is no answer; "" if there is one.
std::string trouble_with(const ForeignStore& store, const Result<Ran>& ran);

/// What a work item is marked with.
struct Labels {
  std::vector<std::string> all;
  std::vector<std::string> beats;  // those of all that are a beat
  std::optional<WallTime> beat;    // the newest, which is what watchers act on
  std::optional<WallTime> quiet_until;
  std::string problem;  // why there is no beat
};
Result<Labels> labels_of(const ForeignStore& store, const Result<Ran>& ran,
                         const TimeContext& context);
/// "heartbeat:".
std::string beat_label_name(const ForeignStore& store);
/// The words of `set`: `{label}` is the new label, a word with `{old}` is there once for each label
/// that it takes the place of, `{labels}` are all that are left, with commas between.
Run set_command(const ForeignStore& store, const Labels& there, const std::string& label);

/// Never fails, as read_store(). That a command fails, or does not end, tells nothing of the agent:
/// the reading is `unread`. That tmux has no such session is an answer.
StoreReading reading_of(const ForeignStore& store, const Result<Ran>& ran,
                        const TimeContext& context, const ProcessLives& lives);

}  // namespace tend
