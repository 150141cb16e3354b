// Watches the keeper of an agent from outside: one that died is replaced, one that hangs is ended
// first. Whoever cares for an agent does it this way: its viewer, its parent's keeper, its
// children's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "os/machine.h"
#include "run/hire.h"
#include "store/life_record.h"

namespace tend {

class KeeperWatch {
 public:
  enum class Found : std::uint8_t {
    kept,
    starting,   // one was put on and has not taken its lock yet
    dead,       // there is none: replace() puts one on
    hangs,      // it was just ended for that
    not_known,  // not to know is not to act
  };
  static constexpr std::size_t kMostReplaced = 5;
  static constexpr Duration kReplacedWithin = std::chrono::minutes{10};

  explicit KeeperWatch(Machine& machine) : machine_(machine) {}

  /// `on_end` is called when the process of the keeper ends; nullptr: nobody waits for that.
  Found look(Folder& folder, const Callback& on_end);

  /// Puts a new keeper on. False, and nothing done, if that was tried too often lately.
  Result<bool> replace(const KeeperProgram& program, const std::string& folder,
                       KeeperStart how = {});
  /// One was put on by somebody else just now.
  void expect_one() { started_ = machine_.clock.now(); }

 private:
  void hold(const ProcessId& id, const Callback& on_end);

  Machine& machine_;
  std::unique_ptr<Process> process_;
  Subscribed end_;
  WallTime pulse_{};       // of the keeper's lock
  Duration pulse_seen_{};  // awake time at which it last changed
  std::deque<Instant> replaced_;
  std::optional<Instant> started_;
};

}  // namespace tend
