// Messages from processes of this machine, and conversations with them, with the kernel's word on
// who they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/loop.h"

namespace tend {

/// What a fifo takes at once when it is empty.
inline constexpr std::size_t kMostInFifo = 60'000;

struct Datagram {
  std::int64_t pid = 0;  // as the kernel says
  bool same_user = false;
  std::string text;  // cut at 4 KB
};

/// One end of a conversation in bytes, closed when it is destroyed. One read and one write at a
/// time; they end before it does.
class Connection {
 public:
  virtual ~Connection() = default;
  /// The other end is a process of this user.
  [[nodiscard]] virtual bool same_user() const = 0;
  /// Once, through the loop, with the next bytes; "" where no more will come. The callback may
  /// destroy the connection.
  [[nodiscard]] virtual Subscribed read(std::function<void(std::string_view)> done) = 0;
  /// Once, through the loop, when all was taken; false if the other end is gone. The callback may
  /// destroy the connection.
  [[nodiscard]] virtual Subscribed write(std::string bytes, std::function<void(bool)> done) = 0;
};

class Sockets {
 public:
  virtual ~Sockets() = default;
  /// Gives out connections to `path` (at most 100 bytes, for this user alone) until the
  /// subscription ends. Fails if somebody listens there; a socket that nobody listens at any more
  /// is replaced.
  [[nodiscard]] virtual Result<Subscribed> listen(
      const std::string& path, std::function<void(std::unique_ptr<Connection>)> callback) = 0;
  /// To whoever listens at `path`.
  [[nodiscard]] virtual Result<std::unique_ptr<Connection>> connect(const std::string& path) = 0;
  /// Receives at `path` (at most 100 bytes, replaced if it exists) until the subscription ends. The
  /// callback runs while a sender that asked for it waits, so that it can still be looked at.
  [[nodiscard]] virtual Result<Subscribed> receive(
      const std::string& path, std::function<void(const Datagram&)> callback) = 0;
  /// One message to whoever receives at `path`; one that begins with '@' is a name without a file.
  /// Without waiting: fails if nobody is there, or takes no more.
  virtual Result<void> send(const std::string& path, std::string_view text) = 0;
  /// Reads a fifo (made if missing) by pieces, for as long as the subscription lasts.
  [[nodiscard]] virtual Result<Subscribed> read_fifo(
      const std::string& path, std::function<void(std::string_view)> callback) = 0;
  /// A fifo that is new and empty. One that stood there is gone, with what nobody has read.
  virtual Result<void> make_fifo(const std::string& path) = 0;
  /// Into a fifo that somebody holds open: all of it or nothing, and without waiting. REQUIRES at
  /// most kMostInFifo bytes, and that nobody else writes into it at the same time.
  virtual Result<void> write_fifo(const std::string& path, std::string_view bytes) = 0;
};

}  // namespace tend
