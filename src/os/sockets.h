// Messages from processes of this machine, with the kernel's word on who sent them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/loop.h"

namespace tend {

struct Datagram {
  std::int64_t pid = 0;  // as the kernel says
  bool same_user = false;
  std::string text;  // cut at 4 KB
};

class Sockets {
 public:
  virtual ~Sockets() = default;
  /// Receives at `path` (at most 100 bytes, replaced if it exists) until the subscription ends. The
  /// callback runs while a sender that asked for it waits, so that it can still be looked at.
  [[nodiscard]] virtual Result<Subscribed> receive(
      const std::string& path, std::function<void(const Datagram&)> callback) = 0;
  /// Reads a fifo (made if missing) by pieces, for as long as the subscription lasts.
  [[nodiscard]] virtual Result<Subscribed> read_fifo(
      const std::string& path, std::function<void(std::string_view)> callback) = 0;
};

}  // namespace tend
