// The patrol as a process: one of a home, by its lock. It beats every 30 s, whatever it does;
// sweeps when the last sweep asked for it; looks at keepers in between; and says what it did. Told
// to end it is not wanted any more, by SIGTERM until the next boot; killed it stays wanted, and a
// keeper starts another one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/machine.h"
#include "run/hire.h"
#include "run/patrol.h"
#include "store/patrol_file.h"

namespace tend {

/// The policy with sweeps as often as a person said.
PatrolPolicy with_interval(PatrolPolicy policy, Duration interval);

/// Starts `tend patrol` with no tie to us. One that finds the lock taken goes by itself.
Result<void> start_patrol(Machine& machine, const KeeperProgram& program, Duration interval);

class PatrolProcess {
 public:
  struct Settings {
    PatrolSettings patrol;
    Duration interval{};  // that was asked for; 0: none
    bool once = false;    // one sweep, and it is not wanted for that
    /// A sweep is over, or keepers were found dead between two.
    std::function<void(const Sweep&)> swept;
    std::function<void(const std::vector<SweepLine>&)> found;
    /// Notices that are due are to be sent, and the callback, if there is one, is called when none
    /// is on its way any more. Called after every sweep and with every beat.
    std::function<void(Callback)> deliver;
  };
  enum class Began : std::uint8_t { at_work, held_by_another };

  PatrolProcess(Machine& machine, Folder& home, WorkItems& items, Settings settings);

  /// Takes the lock and begins the first sweep. From then on everything happens in the machine's
  /// loop, which is stopped when it is over.
  Result<Began> begin();
  /// Why it ended by itself; "" if it was told to.
  [[nodiscard]] const std::string& ended_because() const { return ended_because_; }

 private:
  void beat();
  void sweep();
  void after_sweep(const Sweep& sweep);
  void look_at_keepers();
  void look_at_keepers_soon();
  void end_once();
  void leave(Order order);
  void say(const std::string& text);

  Machine& machine_;
  Folder& home_;
  Settings settings_;
  std::unique_ptr<PatrolLock> lock_;
  std::unique_ptr<Patrol> patrol_;
  std::string ended_because_;
  std::string beat_problem_;
  int looks_left_ = 0;  // of one that makes one sweep
  Subscribed beat_timer_;
  Subscribed sweep_timer_;
  Subscribed keepers_timer_;
  std::vector<Subscribed> orders_;
};

}  // namespace tend
