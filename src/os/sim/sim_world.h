// A World in memory for tests: files are a map, outputs are strings, and everything a test wants to
// go wrong can be made to.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "os/world.h"

namespace tend {

class SimFiles final : public Files {
 public:
  Result<std::unique_ptr<ByteSource>> open(const std::string& path) override;

  std::map<std::string, std::string> contents;  // "-" is standard input
  std::map<std::string, std::string> broken;    // path to what the system says on reading it
  std::size_t piece = 4096;                     // the most bytes that one read() gives
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

  std::map<std::string, std::string> variables;
};

struct SimWorld {
  [[nodiscard]] World world() { return {files, out, err, environment}; }

  SimFiles files;
  SimOutput out;
  SimOutput err;
  SimEnvironment environment;
};

}  // namespace tend
