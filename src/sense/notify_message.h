// The messages of sd_notify(3): lines of NAME=VALUE in one datagram, put into what they mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "sense/adapter.h"

namespace tend {

struct NotifyMessage {
  bool ready = false;
  bool reloading = false;
  bool stopping = false;
  bool watchdog = false;
  bool watchdog_trigger = false;           // WATCHDOG=trigger: the program gives itself up
  std::optional<std::string> status;       // STATUS=, cut at 200 bytes, control characters away
  std::optional<Duration> extend;          // EXTEND_TIMEOUT_USEC=
  std::optional<Duration> watchdog_every;  // WATCHDOG_USEC=
  std::optional<std::int64_t> main_pid;    // MAINPID=
  std::optional<int> error_number;         // ERRNO=
};

/// Unknown names and malformed values are passed over.
NotifyMessage parse_notify_message(std::string_view text);

/// READY is the report that it works, WATCHDOG a beat of the agent, WATCHDOG=trigger the report
/// that it is stuck, STOPPING that it is exiting, EXTEND_TIMEOUT_USEC a declared silence, STATUS a
/// weak sign.
void append_signals(const NotifyMessage& message, Instant now, SignalBatch& batch);

}  // namespace tend
