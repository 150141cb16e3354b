// Messages for an agent that has ended: whoever sent them is told that nobody is going to come for
// them, once, and which they are.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/database.h"

namespace tend {

struct LeftMessages {
  std::string_view agent;
  std::string_view why;  // nobody comes
  WallTime before{};     // what came later may still be waited for
  /// Makes the payload for the outbox from the numbers of one sender's messages.
  std::function<std::string(const std::vector<std::int64_t>&)> undelivered;
};

/// An outage of the agent begins, if it has left any, and each sender that can be answered on the
/// channel of its message is told within it; the end of the outage is told as that of any other.
/// Whoever is killed in between leaves the rest to the next call. How many senders will hear of it.
Result<std::int64_t> tell_left(Database& database, const LeftMessages& left, WallTime now);

}  // namespace tend
