// The caller of this very process: its standard input, and /proc for who is above it.
#pragma once

#include "os/caller.h"

namespace tend {

class LinuxCaller final : public Caller {
 public:
  Result<std::string> input(std::size_t most, Duration patience) override;
  [[nodiscard]] std::vector<Ancestor> ancestors(std::size_t most) const override;
  [[nodiscard]] std::string user() const override;
};

}  // namespace tend
