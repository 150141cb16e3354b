// The seam between Tend and the machine. Commands get a World and touch nothing else; os/linux has
// the real one, os/sim a twin in memory.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/caller.h"
#include "os/files.h"

namespace tend {

struct Machine;

/// Standard output or standard error.
class Output {
 public:
  virtual ~Output() = default;
  /// Buffered; false once the other end has gone away or the disk is full, and from then on.
  virtual bool write(std::string_view text) = 0;
  virtual bool flush() = 0;
  [[nodiscard]] virtual bool is_terminal() const = 0;
  /// Columns of the terminal, or 80.
  [[nodiscard]] virtual int columns() const = 0;
};

class Environment {
 public:
  virtual ~Environment() = default;
  [[nodiscard]] virtual std::optional<std::string> variable(const std::string& name) const = 0;
  /// All of them, as NAME=VALUE.
  [[nodiscard]] virtual std::vector<std::string> all() const = 0;
};

/// Gives the machine to commands that start, watch or end processes; the others never make one.
class Machines {
 public:
  virtual ~Machines() = default;
  virtual Machine& machine() = 0;
};

/// Everything a command may touch.
struct World {
  Files& files;
  Output& out;
  Output& err;
  Environment& environment;
  Machines& machines;
  Caller& caller;
};

}  // namespace tend
