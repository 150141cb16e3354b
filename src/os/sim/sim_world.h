// A World in memory for tests of commands: files are a map, outputs are strings, the machine is a
// process of a SimUniverse, and everything a test wants to go wrong can be made to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/sim/sim_universe.h"
#include "os/world.h"

namespace tend {

class SimFiles final : public Files {
 public:
  /// Looks into `contents` and, if there is a disk, then there.
  explicit SimFiles(const SimDisk* disk = nullptr) : disk_(disk) {}
  Result<std::unique_ptr<ByteSource>> open(const std::string& path) override;
  Result<std::optional<std::string>> read(const std::string& path, std::size_t most) override;
  /// Into `contents`, with the time that `now` gives; fails if `full`.
  Result<bool> replace_if(const std::string& path, std::string_view bytes,
                          const std::function<bool()>& still) override;
  Result<bool> make_new(const std::string& path, std::string_view bytes) override;
  Result<void> append_line(const std::string& path, std::string_view line,
                           std::uint64_t most) override;
  /// Of what is in `contents`, what is in `times`, or 1970.
  Result<std::optional<WallTime>> modified(const std::string& path) override;
  Result<bool> touch(const std::string& path) override;
  Result<void> remove(const std::string& path) override;

  std::map<std::string, std::string> contents;  // "-" is standard input
  std::map<std::string, std::string> broken;    // path to what the system says on reading it
  std::map<std::string, WallTime> times;        // when what is in `contents` was changed
  std::function<WallTime()> now;                // none: what is written has no time
  std::size_t piece = 4096;                     // the most bytes that one read() gives
  bool full = false;                            // nothing can be written

 private:
  const SimDisk* disk_;
};

class SimOutput final : public Output {
 public:
  bool write(std::string_view text) override;
  bool flush() override { return !broken_; }
  [[nodiscard]] bool is_terminal() const override { return terminal; }
  [[nodiscard]] int columns() const override { return width; }

  std::string text;
  std::size_t room = static_cast<std::size_t>(-1);  // bytes until the disk is full
  bool terminal = false;
  int width = 80;

 private:
  bool broken_ = false;
};

class SimEnvironment final : public Environment {
 public:
  [[nodiscard]] std::optional<std::string> variable(const std::string& name) const override;
  [[nodiscard]] std::vector<std::string> all() const override;

  std::map<std::string, std::string> variables;
};

class SimCaller final : public Caller {
 public:
  Result<std::string> input(std::size_t most, Duration /*patience*/) override {
    if (given.size() > most) return fail("standard input is too long");
    return given;
  }
  [[nodiscard]] std::vector<Ancestor> ancestors(std::size_t most) const override {
    return {above.begin(),
            above.begin() + static_cast<std::ptrdiff_t>(std::min(most, above.size()))};
  }
  [[nodiscard]] std::string user() const override { return "uid 1000"; }

  std::string given;
  std::vector<Ancestor> above;  // the parent first
};

/// Makes a process of the universe, with this environment, when it is first asked for its machine.
class SimMachines final : public Machines {
 public:
  SimMachines(SimUniverse& universe, const Environment& environment)
      : universe_(universe), environment_(environment) {}
  Machine& machine() override;
  /// The process that has it.
  std::int64_t pid();

 private:
  SimUniverse& universe_;
  const Environment& environment_;
  Machine* machine_ = nullptr;
  std::int64_t pid_ = 0;
};

/// One command: a World, on a universe of its own or beside others on a shared one.
class SimWorld {
 public:
  SimWorld() : SimWorld(std::make_unique<SimUniverse>(), nullptr) {}
  explicit SimWorld(SimUniverse& shared) : SimWorld(nullptr, &shared) {}

  [[nodiscard]] World world() { return {files, out, err, environment, machines, caller}; }

 private:
  SimWorld(std::unique_ptr<SimUniverse> own, SimUniverse* shared)
      : own_(std::move(own)), universe(own_ ? *own_ : *shared) {}

  std::unique_ptr<SimUniverse> own_;

 public:
  SimUniverse& universe;
  SimFiles files{&universe.disk};
  SimOutput out;
  SimOutput err;
  SimEnvironment environment;
  SimMachines machines{universe, environment};
  SimCaller caller;
};

}  // namespace tend
