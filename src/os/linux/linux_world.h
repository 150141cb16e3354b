// The real World: files by open(2), outputs by write(2), the process's environment, and the machine
// for those who ask for it. SIGPIPE stays what it was until then: a command whose reader goes away
// ends like any other filter. Once there is a machine it is ignored, and that is a failed write.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/linux/linux_caller.h"
#include "os/linux/linux_files.h"
#include "os/world.h"

namespace tend {

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
  [[nodiscard]] std::vector<std::string> all() const override;
};

class LinuxMachine;

/// Makes the machine when it is first asked for it. Most commands never do, and pay nothing.
class LinuxMachines final : public Machines {
 public:
  LinuxMachines();
  ~LinuxMachines() override;
  LinuxMachines(const LinuxMachines&) = delete;
  LinuxMachines& operator=(const LinuxMachines&) = delete;

  Machine& machine() override;

 private:
  std::unique_ptr<LinuxMachine> machine_;
};

/// Owns what a World refers to. Standard error is written at once, standard output in blocks, or by
/// the line if it is a terminal.
class LinuxWorld {
 public:
  LinuxWorld();
  [[nodiscard]] World world() { return {files_, out_, err_, environment_, machines_, caller_}; }

 private:
  LinuxFiles files_;
  LinuxOutput out_;
  LinuxOutput err_;
  LinuxEnvironment environment_;
  LinuxMachines machines_;
  LinuxCaller caller_;
};

}  // namespace tend
