// As a keeper is watched (keeper_watch.cc): the lock says that it lives, the time of its file that
// it does something.
#include "run/patrol_lookout.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "run/child_look.h"
#include "run/patrol_process.h"

namespace tend {

PatrolLookout::PatrolLookout(Machine& machine, KeeperProgram program, Duration every, Say say)
    : machine_(machine),
      program_(std::move(program)),
      every_(std::min(every, kLooksEvery)),
      say_(std::move(say)) {}

void PatrolLookout::look(Folder& home) {
  const Instant now = machine_.clock.now();
  if (now < due_) return;
  due_ = now + every_;
  const auto facts = home.facts(std::string(kPatrolFile));
  if (!facts || !*facts) return;  // there never was one, or not to know is not to act
  const auto patrol = look_at_patrol(home);
  if (!patrol || !*patrol) return;
  if (!(*patrol)->record.is_wanted_in(machine_.processes.self().boot_id)) return;
  (*patrol)->held ? look_at_beat(**patrol) : replace((*patrol)->record);
}

void PatrolLookout::look_at_beat(const PatrolLockState& patrol) {
  const Duration awake = machine_.clock.awake();
  given_up_ = given_up_ && patrol.file.file == file_ && patrol.file.modified == beat_;
  if (patrol.file.file != file_ || patrol.file.modified != beat_) {
    file_ = patrol.file.file;
    beat_ = patrol.file.modified;
    beat_seen_ = awake;
    return;
  }
  if (awake - beat_seen_ < kPatrolHangs) return;
  // A process that is not the recorded one, or cannot be seen, is left alone.
  if (process_state(machine_, patrol.record.process) != ProcessIs::alive) return;
  beat_seen_ = awake;
  const auto ended = machine_.processes.open(patrol.record.process)->signal(Kill::kill);
  if (!ended) return;
  due_ = {};
  say_(fmt::format("the patrol (process {}) hung and was ended", patrol.record.process.pid), false);
}

void PatrolLookout::replace(const PatrolRecord& before) {
  const Instant now = machine_.clock.now();
  while (!replaced_.empty() && now - replaced_.front() > kReplacedWithin) replaced_.pop_front();
  if (replaced_.size() >= kMostReplaced) {
    if (!std::exchange(given_up_, true)) {
      say_("the patrol ends again and again: five were started in ten minutes; see patrol.log",
           true);
    }
    return;
  }
  const auto started = start_patrol(machine_, program_, before.interval);
  if (!started) {
    if (!std::exchange(given_up_, true)) {
      say_("the patrol is gone, and none could be started: " + started.error().text, true);
    }
    return;
  }
  replaced_.push_back(now);
  say_(fmt::format("the patrol (process {}) was gone: a new one was started", before.process.pid),
       false);
}

}  // namespace tend
