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
#include "os/caller.h"

namespace tend {

struct Machine;

/// Bytes that come in pieces. Reads until the end without ever holding the whole.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Fills the front of `into`; 0 at the end.
  virtual Result<std::size_t> read(std::span<char> into) = 0;
};

class Files {
 public:
  virtual ~Files() = default;
  /// Opens a file to be read from its start; "-" is standard input. The error names the path and
  /// what the system said.
  virtual Result<std::unique_ptr<ByteSource>> open(const std::string& path) = 0;

  // Files of people: wherever they are, whoever may write them, links followed.

  /// nullopt if there is no such file. Fails if it is larger than `most`.
  virtual Result<std::optional<std::string>> read(const std::string& path, std::size_t most) = 0;
  /// Puts a whole new file in the place of the old one, or leaves the old one. A link stays and
  /// what it leads to is replaced; permissions and owner stay. A new file is for this user alone;
  /// missing folders are made.
  virtual Result<void> replace(const std::string& path, std::string_view bytes) = 0;
  /// That there is none is no failure.
  virtual Result<void> remove(const std::string& path) = 0;
};

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
