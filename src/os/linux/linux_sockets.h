// Unix datagrams and streams with the credentials of the other side, and fifos.
#pragma once

#include <functional>
#include <memory>
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
  /// The folder of `path` must exist. The file of the socket goes with the subscription.
  [[nodiscard]] Result<Subscribed> listen(
      const std::string& path, std::function<void(std::unique_ptr<Connection>)> callback) override;
  [[nodiscard]] Result<std::unique_ptr<Connection>> connect(const std::string& path) override;
  Result<void> send(const std::string& path, std::string_view text) override;
  /// The fifo stays when the subscription ends.
  [[nodiscard]] Result<Subscribed> read_fifo(
      const std::string& path, std::function<void(std::string_view)> callback) override;
  Result<void> make_fifo(const std::string& path) override;
  Result<void> write_fifo(const std::string& path, std::string_view bytes) override;

 private:
  LinuxLoop& loop_;
};

}  // namespace tend
