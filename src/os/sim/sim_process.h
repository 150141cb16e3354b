// Processes as one simulated process sees and starts them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/process.h"
#include "os/sim/sim_kernel.h"

namespace tend {

class SimProcesses final : public Processes {
 public:
  explicit SimProcesses(SimHandlePtr handle) : handle_(std::move(handle)) {}

  [[nodiscard]] ProcessId self() override;
  Result<std::optional<ProcessId>> identify(std::int64_t pid) override;
  [[nodiscard]] std::unique_ptr<Process> open(const ProcessId& id) override;
  [[nodiscard]] std::uint64_t disk_bytes(const ProcessId& id) override;
  [[nodiscard]] std::optional<std::uint64_t> received_bytes(
      std::span<const ProcessId> ids) override;
  [[nodiscard]] std::optional<std::vector<std::string>> environment_of(
      const ProcessId& id) override;
  [[nodiscard]] double started(const ProcessId& id) override;
  std::expected<std::unique_ptr<GatedChild>, NotStarted> spawn(const Launch& launch) override;
  Result<void> detach(const Launch& launch) override;
  Result<void> become(const Launch& launch) override;
  [[nodiscard]] Result<std::string> own_program() override;
  Result<std::vector<Seen>> all(std::string_view variable) override;
  std::string make_group(const std::string& name) override;
  std::vector<std::int64_t> members(const std::string& group) override;
  void remove_group(const std::string& group) override;
  bool childless(const std::string& group) override;
  [[nodiscard]] Subscribed run(const Run& run, std::function<void(Result<Ran>)> done) override;

 private:
  SimHandlePtr handle_;
};

}  // namespace tend
