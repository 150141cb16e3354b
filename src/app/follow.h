// For commands that stay and watch files: they look when something is hinted at, and from time to
// time anyway, because a hint may be lost.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/time.h"
#include "os/machine.h"

namespace tend {

enum class OnInterrupt {
  end,       // Ctrl-C and SIGTERM end the watching, which is then complete
  as_usual,  // they end the program
};

/// Calls `look` now and whenever something in `folder` may have changed, until it returns false,
/// `until` has come (then it is called once more), or Ctrl-C.
void follow(Machine& machine, const std::string& folder, OnInterrupt on_interrupt,
            std::optional<Instant> until, const std::function<bool()>& look);

}  // namespace tend
