// The recovery scan over a whole home: who is to be brought back, who does it, and why. Roots are
// begun here; everybody else by the keeper of its parent, which scans its own children the same
// way (run/children.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "judge/recovery.h"
#include "os/machine.h"
#include "run/hire.h"
#include "store/home.h"

namespace tend {

struct Recovery {
  std::string agent;
  std::string folder;
  Bucket bucket = Bucket::unknown;
  std::string why;
  std::string by;  // "recover", or the agent whose keeper does it; "" if nothing is to be done
  bool is_over = false;

  /// Something has to be done about it, and will be.
  [[nodiscard]] bool is_due() const { return !by.empty(); }
};

struct RecoveryScan {
  std::vector<Recovery> agents;             // parents before their children
  std::vector<std::string> lost_worktrees;  // below the home, and no agent's
};

/// Looks, and changes nothing.
Result<RecoveryScan> scan_home(Machine& machine, Folder& home);

/// Held by the one who recovers; nullptr if another does.
Result<std::unique_ptr<File>> lock_recovery(Folder& home);

/// Begins what is due and nobody else's: a keeper for each, a moment apart. Runs the machine's
/// loop; `did` is told of each. Requires the lock.
Result<void> begin_roots(Machine& machine, const RecoveryScan& scan, const KeeperProgram& program,
                         const std::function<void(const Recovery&)>& did);

}  // namespace tend
