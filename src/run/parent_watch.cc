// A lock that is held is a keeper that lives; the record in it says which process the agent is.
#include "run/parent_watch.h"

#include <utility>

#include "store/children.h"

namespace tend {

ParentWatch::ParentWatch(Machine& machine, const std::string& heartbeat, KeeperProgram program,
                         Callback changed)
    : machine_(machine),
      program_(std::move(program)),
      changed_(std::move(changed)),
      watch_(machine) {
  auto folder = machine_.folders.open(folder_of_heartbeat(heartbeat));
  if (folder) folder_ = *std::move(folder);
}

std::optional<ParentState> ParentWatch::look(std::optional<ParentState> known) {
  if (!folder_) return std::nullopt;
  const auto found = watch_.look(*folder_, changed_);
  kept_ = found == KeeperWatch::Found::kept;
  gone_ = false;
  // That it is alive is news only after it was dead: then it is another.
  if (kept_) {
    return known == ParentState::dead ? std::optional(ParentState::replaced) : std::nullopt;
  }
  if (found != KeeperWatch::Found::dead) return std::nullopt;
  const auto lock = look_at_lock(*folder_);
  const Is agent = lock ? state_of_agent(*lock) : Is::not_known;
  if (agent == Is::alive) std::ignore = watch_.replace(program_, folder_->path());
  gone_ = agent == Is::dead;
  return gone_ && known != ParentState::dead ? std::optional(ParentState::dead) : std::nullopt;
}

ParentWatch::Is ParentWatch::state_of_agent(const std::optional<LockState>& lock) {
  const ProcessId process = lock ? lock->record.process : ProcessId{};
  if (process.pid == 0) return Is::dead;
  if (process.boot_id != machine_.processes.self().boot_id) return Is::dead;
  switch (machine_.processes.open(process)->look().state) {
    case RunState::running:
    case RunState::stopped:
      return Is::alive;
    case RunState::unknown:
      return Is::not_known;
    case RunState::zombie:
    case RunState::gone:
    case RunState::reused:
      break;
  }
  return Is::dead;
}

void ParentWatch::poke() {
  if (folder_) poke_keeper(machine_, *folder_);
}

}  // namespace tend
