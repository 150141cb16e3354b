// Unix datagrams with the sender's credentials, and fifos.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "os/sockets.h"

namespace tend {

class LinuxLoop;

class LinuxSockets final : public Sockets {
 public:
  explicit LinuxSockets(LinuxLoop& loop) : loop_(loop) {}

  /// The folder of `path` must exist. Only a socket of this user is replaced; its file goes with
  /// the subscription. Only this user and root can send.
  [[nodiscard]] Result<Subscribed> receive(const std::string& path,
                                           std::function<void(const Datagram&)> callback) override;
  /// The fifo stays when the subscription ends.
  [[nodiscard]] Result<Subscribed> read_fifo(
      const std::string& path, std::function<void(std::string_view)> callback) override;

 private:
  LinuxLoop& loop_;
};

}  // namespace tend
