// How long to wait before a life is begun again.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace tend {

/// The first time at once, then 1 s, 2 s, 4 s ... up to a minute, each up to a quarter longer by
/// `chance`, so that many that died together do not come back together.
Duration backoff(std::uint32_t attempts_before, std::uint64_t chance);

/// Up to half a minute by `chance`, for those that may begin at the same moment.
Duration spread(std::uint64_t chance);

}  // namespace tend
