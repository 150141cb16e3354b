// A keeper shows its pulse by touching its lock; see life_record.h.
#include "run/keeper_watch.h"

#include <utility>

namespace tend {
namespace {

using namespace std::chrono_literals;

constexpr Duration kMayTake = 5s;  // to take its lock
constexpr Duration kHangs = 120s;  // awake, without a pulse

}  // namespace

KeeperWatch::Found KeeperWatch::look(Folder& folder, const Callback& on_end) {
  const auto lock = look_at_lock(folder);
  if (!lock) return Found::not_known;
  if (!*lock || !(*lock)->held) {
    const bool may_come = started_ && machine_.clock.now() - *started_ < kMayTake;
    return may_come ? Found::starting : Found::dead;
  }
  started_.reset();
  const ProcessId& id = (*lock)->record.keeper;
  if (id.pid == 0) return Found::kept;
  hold(id, on_end);
  const auto facts = folder.facts(std::string(kLockFile));
  if (!facts || !*facts) return Found::not_known;
  if ((*facts)->modified != pulse_) {
    pulse_ = (*facts)->modified;
    pulse_seen_ = machine_.clock.awake();
    return Found::kept;
  }
  if (machine_.clock.awake() - pulse_seen_ < kHangs) return Found::kept;
  pulse_seen_ = machine_.clock.awake();
  std::ignore = process_->signal(Kill::kill);
  return Found::hangs;
}

void KeeperWatch::hold(const ProcessId& id, const Callback& on_end) {
  if (process_ && process_->id() == id) return;
  end_.reset();
  pulse_seen_ = machine_.clock.awake();
  process_ = machine_.processes.open(id);
  if (on_end) end_ = process_->on_exit(on_end);
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
