// Datagrams and fifos of a simulated process.
#pragma once

#include <functional>
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
  [[nodiscard]] Result<Subscribed> read_fifo(
      const std::string& path, std::function<void(std::string_view)> callback) override;

 private:
  [[nodiscard]] Result<SimNodePtr> folder_of(const std::string& path) const;

  SimHandlePtr handle_;
};

}  // namespace tend
