// The real processes: pidfds, /proc, clone3, cgroup2. It is put together here; each part has a file
// of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/linux/linux_loop.h"
#include "os/linux/linux_proc_files.h"
#include "os/linux/linux_reaper.h"
#include "os/process.h"

namespace tend {

/// Outlives what it gives out. From its first start of a program on it reaps every child of this
/// process while the loop runs; a child's exit is kept only for those who hold it by then. A pid
/// is one of our own namespace, also that of a process which lives in a namespace below.
class LinuxProcesses final : public Processes {
 public:
  explicit LinuxProcesses(LinuxLoop& loop);

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
  /// Where we are; read until it could be read once.
  const Result<Place>& place();

  LinuxLoop& loop_;
  Reaper reaper_;
  Result<Place> place_ = fail("not read yet");
  std::string groups_folder_;
};

}  // namespace tend
