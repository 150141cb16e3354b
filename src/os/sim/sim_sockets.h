// Datagrams, streams and fifos of a simulated process.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "os/sim/sim_kernel.h"
#include "os/sockets.h"

namespace tend {

class SimSockets final : public Sockets {
 public:
  explicit SimSockets(SimHandlePtr handle) : handle_(std::move(handle)) {}
  [[nodiscard]] Result<Subscribed> receive(const std::string& path,
                                           std::function<void(const Datagram&)> callback) override;
  Result<void> send(const std::string& path, std::string_view text) override;
  [[nodiscard]] Result<Subscribed> listen(
      const std::string& path, std::function<void(std::unique_ptr<Connection>)> callback) override;
  [[nodiscard]] Result<std::unique_ptr<Connection>> connect(const std::string& path) override;
  [[nodiscard]] Result<Subscribed> read_fifo(
      const std::string& path, std::function<void(std::string_view)> callback) override;
  Result<void> make_fifo(const std::string& path) override;
  Result<void> write_fifo(const std::string& path, std::string_view bytes) override;

 private:
  [[nodiscard]] Result<SimNodePtr> folder_of(const std::string& path) const;
  /// A file for a receiver, in the place of one that was left.
  [[nodiscard]] Result<SimNodePtr> make_socket(const std::string& path) const;

  SimHandlePtr handle_;
};

}  // namespace tend
