// A keeper shows its pulse by touching its lock; see life_record.h.
#include "run/keeper_watch.h"

#include <algorithm>
#include <utility>

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kMayTake = 5s;          // to take its lock
constexpr Duration kHangs = 120s;          // awake, without a pulse
constexpr Duration kHangsForSure = 10min;  // seen for the first time
constexpr Duration kSecondLook = 1s;

}  // namespace

KeeperWatch::Found KeeperWatch::look(Folder& folder, const Callback& on_end, bool may_end) {
  const auto facts = folder.facts(std::string(kLockFile));
  if (!facts) return Found::not_known;
  if (*facts && holds_still(**facts)) return look_at_pulse(**facts, may_end);
  const auto lock = look_at_lock(folder);
  if (!lock) return Found::not_known;
  if (!*lock || !(*lock)->held) {
    const bool may_come = started_ && machine_.clock.now() - *started_ < kMayTake;
    return may_come ? Found::starting : Found::dead;
  }
  started_.reset();
  const ProcessId& id = (*lock)->record.keeper;
  if (id.pid == 0) return Found::kept;
  const bool is_new = hold(id, on_end);
  if (!*facts) return Found::not_known;
  lock_file_ = (*facts)->file;
  if (is_new && before_ == Before::counts) take_up(**facts, (*lock)->record);
  return look_at_pulse(**facts, may_end);
}

/// Whom we saw hold the lock, and who has not ended since, holds it still if it is the same file.
bool KeeperWatch::holds_still(const FileFacts& lock) const {
  return end_ && !ended_ && lock.file == lock_file_;
}

KeeperWatch::Found KeeperWatch::look_at_pulse(const FileFacts& lock, bool may_end) {
  if (lock.modified != pulse_) {
    pulse_ = lock.modified;
    pulse_seen_ = machine_.clock.awake();
    return Found::kept;
  }
  if (machine_.clock.awake() - pulse_seen_ < kHangs) return Found::kept;
  if (!may_end) return Found::hangs;
  pulse_seen_ = machine_.clock.awake();
  std::ignore = process_->signal(Kill::kill);
  return Found::hangs;
}

/// However long it was silent, it has a moment left to show a pulse: it may have just gone on.
void KeeperWatch::take_up(const FileFacts& lock, const LifeRecord& record) {
  const auto before = std::exchange(remembered_, std::nullopt);
  Duration silent = still_for(lock, record);
  if (silent < kHangsForSure) silent = Duration::zero();
  if (before && before->pulse == lock.modified) {
    silent = std::max(silent, pulse_seen_ - before->seen);
  }
  if (silent <= Duration::zero()) return;
  pulse_ = lock.modified;
  pulse_seen_ -= std::min(silent, kHangs - kSecondLook);
}

bool KeeperWatch::is_in_doubt() const {
  return machine_.clock.awake() - pulse_seen_ >= kHangs - kSecondLook;
}

/// How long one that is stopped has shown no pulse while the machine was awake, as far as that is
/// certain: every sleep that its keeper has not written down may have been since.
Duration KeeperWatch::still_for(const FileFacts& lock, const LifeRecord& record) {
  if (!record.slept || process_->look().state != RunState::stopped) return Duration::zero();
  const Duration slept = machine_.clock.now().time_since_epoch() - machine_.clock.awake();
  const auto silent = std::chrono::duration_cast<Duration>(machine_.clock.wall() - lock.modified);
  return silent - std::max(slept - *record.slept, Duration::zero());
}

bool KeeperWatch::hold(const ProcessId& id, const Callback& on_end) {
  if (process_ && process_->id() == id) return false;
  end_.reset();
  pulse_seen_ = machine_.clock.awake();
  process_ = machine_.processes.open(id);
  ended_ = false;
  if (!on_end) return true;
  end_ = process_->on_exit([this, on_end] {
    ended_ = true;
    on_end();
  });
  return true;
}

Result<bool> KeeperWatch::replace(const KeeperProgram& program, const std::string& folder,
                                  KeeperStart how) {
  const Instant now = machine_.clock.now();
  while (!replaced_.empty() && now - replaced_.front() > kReplacedWithin) replaced_.pop_front();
  if (replaced_.size() >= kMostReplaced) return false;
  replaced_.push_back(now);
  started_ = now;
  if (auto started = tend::start_keeper(machine_, program, folder, how); !started) {
    replaced_.pop_back();  // none that died; it is tried again in a moment
    return std::unexpected(started.error());
  }
  return true;
}

}  // namespace tend
