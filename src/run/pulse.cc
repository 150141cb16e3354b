// The file is opened once and its time set through the descriptor; a rewrite makes it another file.
#include "run/pulse.h"

#include <utility>

namespace tend {

Pulse::Pulse(Folder& folder, Clock& clock, Heartbeat before, WallTime last_beat)
    : folder_(folder), clock_(clock), says_(std::move(before)), last_beat_(last_beat) {}

Result<void> Pulse::write() {
  if (written_ && (!changed_ || says_ == said_)) {
    changed_ = false;
    return {};
  }
  std::string text = format_heartbeat(says_);
  if (text == written_) {  // what differs is too small to be told
    said_ = says_;
    changed_ = false;
    return {};
  }
  if (last_beat_ == WallTime{}) last_beat_ = clock_.wall();
  const auto done =
      folder_.replace(std::string(kHeartbeatFile), text, Folder::Sync::no, last_beat_);
  if (!done) return done;
  written_ = std::move(text);
  said_ = says_;
  changed_ = false;
  file_.reset();
  return {};
}

Result<void> Pulse::beat() {
  if (!file_) {
    auto file = folder_.open(std::string(kHeartbeatFile), Folder::Open::update);
    if (!file) return std::unexpected(file.error());
    file_ = *std::move(file);
    // Somebody took it away, and this is another one: it is to say what the old one said.
    const auto facts = file_->facts();
    if (facts && facts->size == 0) {
      file_.reset();
      written_.reset();
      last_beat_ = clock_.wall();
      return write();
    }
  }
  const WallTime now = clock_.wall();
  if (auto done = file_->touch(); !done) {
    file_.reset();
    return done;
  }
  last_beat_ = now;
  return {};
}

}  // namespace tend
