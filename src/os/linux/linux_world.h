// The real World: files by open(2), outputs by write(2), the process's environment. SIGPIPE must be
// ignored by main, so that a reader that goes away is a failed write and not a death.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "os/world.h"

namespace tend {

class LinuxFiles final : public Files {
 public:
  Result<std::unique_ptr<ByteSource>> open(const std::string& path) override;
};

/// One of the process's own descriptors; it is not closed.
class LinuxOutput final : public Output {
 public:
  enum class Buffering { full, none };

  LinuxOutput(int descriptor, Buffering buffering);
  ~LinuxOutput() override;
  LinuxOutput(const LinuxOutput&) = delete;
  LinuxOutput& operator=(const LinuxOutput&) = delete;

  bool write(std::string_view text) override;
  bool flush() override;
  [[nodiscard]] bool is_terminal() const override { return terminal_; }
  [[nodiscard]] int columns() const override;

 private:
  bool send(std::string_view text);

  int descriptor_;
  bool terminal_;
  bool buffered_;
  bool broken_ = false;
  std::string buffer_;
};

class LinuxEnvironment final : public Environment {
 public:
  [[nodiscard]] std::optional<std::string> variable(const std::string& name) const override;
};

/// Owns what a World refers to. Standard error is written at once, standard output in blocks, or by
/// the line if it is a terminal.
class LinuxWorld {
 public:
  LinuxWorld();
  [[nodiscard]] World world() { return {files_, out_, err_, environment_}; }

 private:
  LinuxFiles files_;
  LinuxOutput out_;
  LinuxOutput err_;
  LinuxEnvironment environment_;
};

}  // namespace tend
