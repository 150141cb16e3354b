// Who watches the patrol: every keeper looks at its file now and then. One that is wanted and gone
// is started again, one that hangs is ended first; of several that start one its lock picks one.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>

#include "base/time.h"
#include "os/machine.h"
#include "run/hire.h"
#include "store/patrol_file.h"

namespace tend {

class PatrolLookout {
 public:
  static constexpr std::size_t kMostReplaced = 5;
  static constexpr Duration kReplacedWithin = std::chrono::minutes{10};
  static constexpr Duration kLooksEvery = std::chrono::minutes{1};

  using Say = std::function<void(const std::string& text, bool needs_person)>;

  /// Looks no more often than `every`.
  PatrolLookout(Machine& machine, KeeperProgram program, Duration every, Say say);

  void look(Folder& home);

 private:
  void look_at_beat(const PatrolLockState& patrol);
  void replace(const PatrolRecord& before);

  Machine& machine_;
  KeeperProgram program_;
  Duration every_;
  Say say_;
  Instant due_{};
  std::uint64_t file_ = 0;
  WallTime beat_{};
  Duration beat_seen_{};  // awake time at which it last changed
  std::deque<Instant> replaced_;
  bool given_up_ = false;
};

}  // namespace tend
