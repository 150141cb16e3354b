// The parent of an agent, watched by the agent's keeper. Dead means that both its keeper and its
// agent are proven gone; a keeper that is missing beside a living agent is replaced from here.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "judge/words.h"
#include "os/machine.h"
#include "run/hire.h"
#include "run/keeper_watch.h"
#include "store/heartbeat.h"

namespace tend {

class ParentWatch {
 public:
  /// `changed` is called when the parent's keeper ends.
  ParentWatch(Machine& machine, const std::string& heartbeat, KeeperProgram program,
              Callback changed);

  /// What the judge should know, if that is news to it. `known` is what it believes: another keeper
  /// may have told it, and a new life was told nothing.
  std::optional<ParentState> look(std::optional<ParentState> known);
  /// Something changed here that the parent counts on.
  void poke();
  /// Its keeper holds its lock.
  [[nodiscard]] bool is_kept() const { return kept_; }
  /// It was dead when it was looked at last.
  [[nodiscard]] bool is_gone() const { return gone_; }

 private:
  Machine& machine_;
  std::unique_ptr<Folder> folder_;  // nullptr: it cannot be opened, and nothing is known
  KeeperProgram program_;
  Callback changed_;
  KeeperWatch watch_;
  bool kept_ = false;
  bool gone_ = false;
};

}  // namespace tend
