// `intent.json`: what the operator wants of an agent. Written by commands, read by the keeper,
// which is poked after the write; the last word wins.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "judge/words.h"
#include "os/folder.h"

namespace tend {

inline constexpr std::string_view kIntentFile = "intent.json";

struct Intent {
  Want want = Want::run;
  bool now = false;           // stop: no polite signals first
  std::string by;             // "tend stop", "Ctrl-C": for people
  double at = 0;              // by the calendar; also what tells two intents apart
  bool keep_running = false;  // pause: nothing is judged, but the processes are not stopped
  bool tree = false;          // stop, drain: everything below it too, and that first

  bool operator==(const Intent&) const = default;
};

Result<void> write_intent(Folder& folder, const Intent& intent);
/// nullopt if none was ever said, or what stands there cannot be understood.
Result<std::optional<Intent>> read_intent(Folder& folder);

}  // namespace tend
