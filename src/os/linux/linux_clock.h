// The clocks of the kernel.
#pragma once

#include "os/clock.h"

namespace tend {

class LinuxClock final : public Clock {
 public:
  [[nodiscard]] Instant now() override;
  [[nodiscard]] Duration awake() override;
  [[nodiscard]] WallTime wall() override;
};

}  // namespace tend
