// The files of people on the simulated disk, for one process: nothing is refused but what the
// system itself would refuse.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "os/files.h"
#include "os/sim/sim_kernel.h"

namespace tend {

/// A text, given out in pieces.
class SimText final : public ByteSource {
 public:
  SimText(std::string text, std::size_t piece) : text_(std::move(text)), piece_(piece) {}

  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t size = std::min({into.size(), piece_, text_.size() - at_});
    std::copy_n(text_.data() + at_, size, into.data());
    at_ += size;
    return size;
  }

 private:
  std::string text_;
  std::size_t piece_;
  std::size_t at_ = 0;
};

/// It has no standard input.
class SimDiskFiles final : public Files {
 public:
  explicit SimDiskFiles(SimHandlePtr handle) : handle_(std::move(handle)) {}
  Result<std::unique_ptr<ByteSource>> open(const std::string& path) override;
  Result<std::optional<std::string>> read(const std::string& path, std::size_t most) override;
  Result<bool> replace_if(const std::string& path, std::string_view bytes,
                          const std::function<bool()>& still) override;
  Result<bool> make_new(const std::string& path, std::string_view bytes) override;
  Result<void> append_line(const std::string& path, std::string_view line,
                           std::uint64_t most) override;
  Result<std::optional<WallTime>> modified(const std::string& path) override;
  Result<bool> touch(const std::string& path) override;
  Result<void> remove(const std::string& path) override;

 private:
  [[nodiscard]] SimDisk& disk() { return handle_->kernel->disk; }
  /// The path at the end of a chain of links.
  Result<std::string> target_of(std::string path);
  Result<void> write(const SimNodePtr& folder, const std::string& name, std::string_view bytes);

  SimHandlePtr handle_;
};

}  // namespace tend
