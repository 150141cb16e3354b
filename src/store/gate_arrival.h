// What may come in through the gate: check_arrival() of store/gate.h, and what a name there may be,
// of an agent, a channel, an endpoint, a holder.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace tend {

/// One printable line of 1 to `most` bytes. The error begins with `what`.
Result<void> check_gate_name(std::string_view what, std::string_view name, std::size_t most);

}  // namespace tend
