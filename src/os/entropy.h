// Chance: names that do not collide, waits that do not march in step.
#pragma once

#include <cstdint>

namespace tend {

class Entropy {
 public:
  virtual ~Entropy() = default;
  virtual std::uint64_t number() = 0;
};

}  // namespace tend
