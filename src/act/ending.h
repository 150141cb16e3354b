// Ends all processes of one life: asks, asks again, insists; verifies who it signals each time; and
// answers only when nothing of it is left, or nothing more can be done.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "os/machine.h"
#include "os/process_tree.h"

namespace tend {

/// The variable that marks a process as an agent's: the agent's folder is its value.
inline constexpr std::string_view kMarkVariable = "TEND_INFRA";

struct EndOrder {
  Belonging who;
  /// Of the environment: its value is what `who.mark` is compared with.
  std::string_view variable = kMarkVariable;
  bool now = false;  // SIGKILL at once
  /// The first process and those of its job are asked to interrupt, as a terminal would, then all
  /// are to terminate, then all are killed. How long each may take, time asleep not counted; 0 for
  /// one of the first two leaves it out.
  Duration interrupt_for = std::chrono::seconds{5};
  Duration terminate_for = std::chrono::seconds{10};
  Duration kill_for = std::chrono::seconds{30};
  /// Asked before every signal; as long as it says no, none is sent. Nothing: always.
  std::function<bool()> may_act;
};

struct Ended {
  bool all_gone = false;
  std::string how;  // "ended by SIGTERM", "nothing was left", "2 processes left: ..."
  std::vector<ProcessId> left;
  bool unseen = false;  // what is left could not be looked at
};

class Ending {
 public:
  /// Begins at once; `done` is called once, never from the constructor. Destroyed before that, it
  /// sends nothing more.
  Ending(Machine& machine, EndOrder order, std::function<void(const Ended&)> done);
  ~Ending();
  Ending(const Ending&) = delete;
  Ending& operator=(const Ending&) = delete;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace tend
