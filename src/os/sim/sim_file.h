// An open file of the simulated disk. Every method opens with a call: that is where a process is
// killed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "os/folder.h"
#include "os/sim/sim_kernel.h"

namespace tend {

class SimFile final : public File {
 public:
  /// `folder` is the path that it was opened in.
  SimFile(SimHandlePtr handle, SimNodePtr node, std::shared_ptr<const std::string> folder,
          Folder::Open how);
  ~SimFile() override;
  SimFile(const SimFile&) = delete;
  SimFile& operator=(const SimFile&) = delete;

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override;
  Result<void> append(std::string_view bytes) override;
  Result<void> overwrite(std::string_view bytes) override;
  Result<FileFacts> facts() override;
  Result<void> touch() override;
  Result<void> touch(WallTime modified) override;
  Result<void> punch(std::uint64_t end) override;
  Result<std::uint64_t> data_from(std::uint64_t offset) override;
  Result<void> cut(std::uint64_t size) override;
  Result<void> sync() override;
  Result<bool> lock() override;
  Result<bool> is_locked() override;

 private:
  SimDisk& disk() { return handle_->kernel->disk; }
  Result<void> may_write();
  [[nodiscard]] Result<void> named(Result<void> result) const;

  SimHandlePtr handle_;
  SimNodePtr node_;
  std::shared_ptr<const std::string> folder_;
  std::string name_;
  Folder::Open how_;
  std::uint64_t number_;
};

inline FileFacts sim_facts_of(const SimNode& node) {
  return {node.bytes.size(), node.number, node.modified};
}

}  // namespace tend
