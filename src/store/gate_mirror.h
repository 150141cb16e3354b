// What other tools read of the gate, in a folder that they know. It is written whenever it changes
// and never believed: the truth is `tend.db`. Both files are there only while they say something.
//
//   .degraded               {"since":1773002269,"agent":"boss","why":"no answer for 15m"}
//                           of all that are down the one that is so for the longest time
//   .pending-channels.json  [{"channel":"telegram","endpoint":"chat-1","since":1773002270,
//                             "agent":"boss"}, ...]
//                           who was told of an outage and not yet of its end, oldest first
#pragma once

#include <vector>

#include "base/result.h"
#include "os/folder.h"
#include "store/gate.h"

namespace tend {

inline constexpr const char* kDegradedFile = ".degraded";
inline constexpr const char* kPendingFile = ".pending-channels.json";

/// `open` are the outages as Gate::open_outages() gives them, `pending` the channels as
/// Gate::pending() does. What says so already is left alone. Both files are tried, whatever becomes
/// of the first.
Result<void> mirror_gate(Folder& folder, const std::vector<Outage>& open,
                         const std::vector<PendingChannel>& pending);

}  // namespace tend
