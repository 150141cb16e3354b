// `[lease.NAME]`: what a lease is like, whoever asks for it.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"

namespace tend {

struct LeaseSettings {
  std::optional<Duration> ttl;  // none: the usual one
  std::string mirror;           // a file that other tools read; "": none
  std::string agent;            // of this home, whose verdict decides; "": none

  bool operator==(const LeaseSettings&) const = default;
};

}  // namespace tend
