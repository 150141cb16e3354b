// The kernel's random numbers.
#pragma once

#include "os/entropy.h"

namespace tend {

class LinuxEntropy final : public Entropy {
 public:
  std::uint64_t number() override;
};

}  // namespace tend
