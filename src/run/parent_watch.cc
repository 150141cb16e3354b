// A lock that is held is a keeper that lives; the record in it says which process the agent is.
#include "run/parent_watch.h"

#include <utility>

#include "run/child_look.h"
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
  if (!lock) return std::nullopt;
  const ProcessIs agent = process_state(machine_, *lock ? (*lock)->record.process : ProcessId{});
  if (agent == ProcessIs::alive) std::ignore = watch_.replace(program_, folder_->path());
  gone_ = agent == ProcessIs::none || agent == ProcessIs::gone;
  return gone_ && known != ParentState::dead ? std::optional(ParentState::dead) : std::nullopt;
}

void ParentWatch::poke() {
  if (folder_) poke_keeper(machine_, *folder_);
}

}  // namespace tend
