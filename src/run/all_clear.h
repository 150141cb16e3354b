// The end of an outage, for whoever wrote to an agent meanwhile: what was held for it is released,
// and every channel that was told of the outage is told of its end, one by one, each tried again
// until it was heard or is given up. Until then, whoever could not be told of the outage is tried
// again. What could not be written is tried again; killed at any moment, the next keeper or the
// patrol goes on.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/machine.h"
#include "run/replies.h"
#include "store/gate.h"
#include "store/gate_settings.h"

namespace tend {

class AllClear {
 public:
  struct Owner {
    std::string agent;
    GateSettings gate;
    /// For people who follow.
    std::function<void(const std::string& text, bool needs_person)> say;
    /// How many messages wait for it now.
    std::function<void(std::int64_t waiting)> released;
    /// Who is still to be told may be another now.
    std::function<void()> changed;
  };
  AllClear(Machine& machine, Folder& home, Owner owner);

  /// The agent is well. `done` hears what came of it, from the loop.
  void begin(std::function<void(const std::string& result)> done);
  /// The agent is down: what was not begun is not done, and what its senders are to be told of that
  /// is sent.
  void go_down();
  /// There is an outage that has not ended, or whether there is cannot be known.
  [[nodiscard]] bool is_due();
  /// How many messages wait for the agent.
  Result<std::int64_t> waiting();
  /// Who was told of an outage of the agent and not yet of its end, as far as that can be known.
  std::vector<PendingChannel> pending();

 private:
  void try_to_end();
  struct End {
    bool was_open = false;
    std::string words;
  };
  Result<End> end();
  void look_again();
  void look_while_down();
  /// All that senders are still to be told.
  Result<void> send_what_waits(Gate& gate);
  void hear(const Postman::Delivery& delivery);

  Machine& machine_;
  Folder& home_;
  Owner owner_;
  std::function<void(const std::string& result)> done_;
  std::string problem_;
  int looks_left_ = 0;
  Replies replies_;
  Subscribed again_;
};

}  // namespace tend
