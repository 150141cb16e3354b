// Every method opens with a call: that is where a process is killed.
#include "os/sim/sim_files.h"

#include <fmt/format.h>

#include <tuple>

namespace tend {
namespace {

constexpr int kMostLinks = 16;

std::string folder_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

Result<std::string> SimDiskFiles::target_of(std::string path) {
  for (int i = 0; i < kMostLinks; ++i) {
    const SimNodePtr& node = disk().find(path);
    if (node == nullptr && i > 0) return fail(path + " is a link to nothing");
    if (node == nullptr || node->kind != SimKind::link) return path;
    path = node->bytes.starts_with('/') ? node->bytes : folder_of(path) + "/" + node->bytes;
  }
  return fail("cannot find " + path + ": Too many levels of symbolic links");
}

Result<std::unique_ptr<ByteSource>> SimDiskFiles::open(const std::string& path) {
  constexpr std::size_t kPiece = 4096;
  auto text = read(path, static_cast<std::size_t>(-1));
  if (!text) return std::unexpected(text.error());
  if (!*text) return fail("cannot open " + path + ": No such file or directory");
  return std::make_unique<SimText>(**std::move(text), kPiece);
}

Result<std::optional<std::string>> SimDiskFiles::read(const std::string& path, std::size_t most) {
  if (!handle_->call_disk()) return sim_over();
  const auto target = target_of(path);
  const SimNodePtr node = target ? disk().find(*target) : nullptr;
  if (node == nullptr) return std::nullopt;
  if (node->unreadable) return fail("cannot open " + path + ": Permission denied");
  if (node->kind != SimKind::file) return fail(path + " is no plain file");
  if (node->bytes.size() > most) {
    return fail(fmt::format("{} is larger than {} bytes", path, most));
  }
  return node->bytes;
}

/// What is killed in its middle has written the first bytes.
Result<void> SimDiskFiles::write(const SimNodePtr& folder, const std::string& name,
                                 std::string_view bytes) {
  const SimNodePtr made = disk().make(folder, name, SimKind::file);
  const auto torn = [&](std::string_view some) { std::ignore = disk().grow(*made, some); };
  if (!handle_->call_to_write(bytes, torn)) return sim_over();
  const auto written = disk().grow(*made, bytes);
  if (written && !handle_->call_sync()) return sim_over();
  if (written) {
    disk().sync_bytes(*made);
  } else {
    disk().unlink(*folder, name);
  }
  return written;
}

Result<bool> SimDiskFiles::replace_if(const std::string& path, std::string_view bytes,
                                      const std::function<bool()>& still) {
  if (!handle_->call_disk()) return sim_over();
  const auto target = target_of(path);
  if (!target) return std::unexpected(target.error());
  const SimNodePtr old = disk().find(*target);
  if (old != nullptr && old->kind == SimKind::folder) {
    return fail("cannot write " + *target + ": Is a directory");
  }
  const SimNodePtr folder = disk().make_all(folder_of(*target), SimKind::folder);
  const std::string name = name_of(*target);
  const std::string aside = fmt::format("{}.{:016x}.tmp", name, handle_->kernel->random());
  if (auto written = write(folder, aside, bytes); !written) {
    return fail("cannot write " + *target + ": " + written.error().text);
  }
  if (!still()) {
    disk().unlink(*folder, aside);
    return false;
  }
  if (!handle_->call_disk()) return sim_over();
  disk().move(*folder, aside, name);
  return true;
}

Result<bool> SimDiskFiles::make_new(const std::string& path, std::string_view bytes) {
  if (!handle_->call_disk()) return sim_over();
  if (disk().find(path) != nullptr) return false;
  const SimNodePtr folder = disk().find(folder_of(path));
  if (folder == nullptr || folder->kind != SimKind::folder) {
    return fail("cannot make " + path + ": No such file or directory");
  }
  const std::string name = name_of(path);
  const std::string aside = fmt::format("{}.{:016x}.tmp", name, handle_->kernel->random());
  if (auto written = write(folder, aside, bytes); !written) {
    return fail("cannot write " + path + ": " + written.error().text);
  }
  if (!handle_->call_disk()) return sim_over();
  if (disk().find(path) != nullptr) {
    disk().unlink(*folder, aside);
    return false;
  }
  disk().move(*folder, aside, name);
  return true;
}

Result<void> SimDiskFiles::append_line(const std::string& path, std::string_view line,
                                       std::uint64_t most) {
  if (!handle_->call_disk()) return sim_over();
  const auto target = target_of(path);
  if (!target) return std::unexpected(target.error());
  const std::string bytes = std::string(line) + "\n";
  const SimNodePtr folder = disk().make_all(folder_of(*target), SimKind::folder);
  const std::string name = name_of(*target);
  SimNodePtr node = disk().find(*target);
  if (node != nullptr && node->kind != SimKind::file) return fail(path + " is no plain file");
  if (node != nullptr && node->bytes.size() + bytes.size() > most) {
    disk().move(*folder, name, name + ".1");
    if (!handle_->call_disk()) return sim_over();
    node = nullptr;
  }
  if (node == nullptr) node = disk().make(folder, name, SimKind::file);
  const auto torn = [&](std::string_view some) { std::ignore = disk().grow(*node, some); };
  if (!handle_->call_to_write(bytes, torn)) return sim_over();
  const auto written = disk().grow(*node, bytes);
  return written ? written : fail("cannot write " + *target + ": " + written.error().text);
}

Result<std::optional<WallTime>> SimDiskFiles::modified(const std::string& path) {
  if (!handle_->call_disk()) return sim_over();
  const auto target = target_of(path);
  const SimNodePtr node = target ? disk().find(*target) : nullptr;
  if (node == nullptr) return std::nullopt;
  if (node->kind != SimKind::file) return fail(path + " is no plain file");
  return node->modified;
}

Result<bool> SimDiskFiles::touch(const std::string& path) {
  if (!handle_->call_disk()) return sim_over();
  const auto target = target_of(path);
  const SimNodePtr node = target ? disk().find(*target) : nullptr;
  if (node == nullptr) return false;
  if (!disk().broken.empty()) return fail("cannot touch " + path + ": " + disk().broken);
  disk().touch(*node);
  return true;
}

Result<void> SimDiskFiles::remove(const std::string& path) {
  if (!handle_->call_disk()) return sim_over();
  const SimNodePtr node = disk().find(path);
  if (node == nullptr) return {};
  if (node->kind == SimKind::folder) return fail("cannot remove " + path + ": Is a directory");
  disk().unlink(*disk().find(folder_of(path)), name_of(path));
  return {};
}

}  // namespace tend
