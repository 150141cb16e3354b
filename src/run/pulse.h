// The heartbeat file of one agent, as its keeper writes it: whole on every change, and between
// changes nothing but its time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "os/clock.h"
#include "os/folder.h"
#include "store/heartbeat.h"

namespace tend {

class Pulse {
 public:
  /// `before` is what the file says now, its time included.
  Pulse(Folder& folder, Clock& clock, Heartbeat before, WallTime last_beat);

  [[nodiscard]] const Heartbeat& says() const { return says_; }
  /// To be changed before the next write(), which makes it known.
  Heartbeat& change() {
    changed_ = true;
    return says_;
  }
  /// Puts the whole file in place if anything in it changed. The time of the last beat stays.
  Result<void> write();
  /// One beat: the agent's process is alive now.
  Result<void> beat();
  [[nodiscard]] WallTime last_beat() const { return last_beat_; }

 private:
  Folder& folder_;
  Clock& clock_;
  Heartbeat says_;
  bool changed_ = true;                 // it may be
  Heartbeat said_;                      // what `written_` was made from
  std::optional<std::string> written_;  // the whole file; none: not by us
  WallTime last_beat_;
  std::unique_ptr<File> file_;
};

}  // namespace tend
