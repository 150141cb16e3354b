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
    hangs,      // it was just ended for that, if it may be
    not_known,  // not to know is not to act
  };
  /// What a keeper did before it was looked at for the first time.
  enum class Before : std::uint8_t {
    forgiven,  // it is watched from now on
    counts,    // what was remembered; and that it is stopped and shows no pulse for much too long
  };
  static constexpr std::size_t kMostReplaced = 5;
  static constexpr Duration kReplacedWithin = std::chrono::minutes{10};

  explicit KeeperWatch(Machine& machine, Before before = Before::forgiven)
      : machine_(machine), before_(before) {}

  /// `on_end` is called when the process of the keeper ends; nullptr: nobody waits for that.
  Found look(Folder& folder, const Callback& on_end, bool may_end = true);

  /// Puts a new keeper on. False, and nothing done, if that was tried too often lately.
  Result<bool> replace(const KeeperProgram& program, const std::string& folder,
                       KeeperStart how = {});
  /// It hangs if it shows no pulse in a moment.
  [[nodiscard]] bool is_in_doubt() const;
  /// What a watch before this one saw last of the same keeper.
  void remember(const SeenPulse& pulse) { remembered_ = pulse; }
  [[nodiscard]] SeenPulse pulse() const { return {pulse_, pulse_seen_}; }
  /// One was put on by somebody else just now.
  void expect_one() { started_ = machine_.clock.now(); }

 private:
  /// False if it is the one that is held already.
  bool hold(const ProcessId& id, const Callback& on_end);
  void take_up(const FileFacts& lock, const LifeRecord& record);
  [[nodiscard]] Duration still_for(const FileFacts& lock, const LifeRecord& record);
  [[nodiscard]] bool holds_still(const FileFacts& lock) const;
  Found look_at_pulse(const FileFacts& lock, bool may_end);

  Machine& machine_;
  Before before_;
  std::unique_ptr<Process> process_;
  Subscribed end_;
  bool ended_ = false;
  std::uint64_t lock_file_ = 0;
  std::optional<SeenPulse> remembered_;
  WallTime pulse_{};       // of the keeper's lock
  Duration pulse_seen_{};  // awake time at which it last changed
  std::deque<Instant> replaced_;
  std::optional<Instant> started_;
};

}  // namespace tend
