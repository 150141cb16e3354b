// Sources over strings; see sim_world.h.
#include "os/sim/sim_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "os/sim/sim_files.h"

namespace tend {
namespace {

class BrokenSource final : public ByteSource {
 public:
  explicit BrokenSource(std::string says) : says_(std::move(says)) {}
  Result<std::size_t> read(std::span<char> /*into*/) override { return fail(says_); }

 private:
  std::string says_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> SimFiles::open(const std::string& path) {
  if (const auto found = broken.find(path); found != broken.end()) {
    return std::make_unique<BrokenSource>("cannot read " + path + ": " + found->second);
  }
  if (const auto found = contents.find(path); found != contents.end()) {
    return std::make_unique<SimText>(found->second, piece);
  }
  auto text = disk_ == nullptr ? std::nullopt : disk_->read(path);
  if (!text) return fail("cannot open " + path + ": No such file or directory");
  return std::make_unique<SimText>(std::move(*text), piece);
}

Result<std::optional<std::string>> SimFiles::read(const std::string& path, std::size_t most) {
  if (const auto found = broken.find(path); found != broken.end()) {
    return fail("cannot read " + path + ": " + found->second);
  }
  std::optional<std::string> text;
  if (const auto found = contents.find(path); found != contents.end()) text = found->second;
  if (!text && disk_ != nullptr) text = disk_->read(path);
  if (text && text->size() > most)
    return fail(fmt::format("{} is larger than {} bytes", path, most));
  return text;
}

Result<bool> SimFiles::replace_if(const std::string& path, std::string_view bytes,
                                  const std::function<bool()>& still) {
  if (full) return fail("cannot write " + path + ": No space left on device");
  if (!still()) return false;
  contents[path] = bytes;
  if (now) times[path] = now();
  return true;
}

Result<bool> SimFiles::make_new(const std::string& path, std::string_view bytes) {
  const auto there = modified(path);
  if (!there) return std::unexpected(there.error());
  if (*there) return false;
  const auto made = replace(path, bytes);
  if (!made) return std::unexpected(made.error());
  return true;
}

Result<void> SimFiles::append_line(const std::string& path, std::string_view line,
                                   std::uint64_t most) {
  if (full) return fail("cannot write " + path + ": No space left on device");
  std::string& text = contents[path];
  if (text.size() + line.size() + 1 > most) contents[path + ".1"] = std::exchange(text, "");
  text.append(line).append("\n");
  if (now) times[path] = now();
  return {};
}

Result<std::optional<WallTime>> SimFiles::modified(const std::string& path) {
  if (const auto found = broken.find(path); found != broken.end()) {
    return fail("cannot look at " + path + ": " + found->second);
  }
  if (contents.contains(path)) {
    const auto found = times.find(path);
    return found == times.end() ? WallTime{} : found->second;
  }
  return disk_ == nullptr ? std::nullopt : disk_->modified(path);
}

Result<bool> SimFiles::touch(const std::string& path) {
  if (full) return fail("cannot touch " + path + ": No space left on device");
  if (!contents.contains(path)) return false;
  if (now) times[path] = now();
  return true;
}

Result<void> SimFiles::remove(const std::string& path) {
  contents.erase(path);
  return {};
}

bool SimOutput::write(std::string_view more) {
  if (broken_ || more.size() > room - text.size()) {
    broken_ = true;
    return false;
  }
  text.append(more);
  return true;
}

std::optional<std::string> SimEnvironment::variable(const std::string& name) const {
  const auto found = variables.find(name);
  if (found == variables.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> SimEnvironment::all() const {
  std::vector<std::string> entries;
  entries.reserve(variables.size());
  for (const auto& [name, value] : variables) entries.push_back(fmt::format("{}={}", name, value));
  return entries;
}

Machine& SimMachines::machine() {
  if (machine_ == nullptr) {
    pid_ = universe_.start_process(
        "tend", {.environment = environment_.all(), .working_folder = universe_.working_folder});
    machine_ = &universe_.machine_of(pid_);
  }
  return *machine_;
}

std::int64_t SimMachines::pid() {
  machine();
  return pid_;
}

}  // namespace tend
