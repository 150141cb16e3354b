// Nodes in memory; see sim_disk.h.
#include "os/sim/sim_disk.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace tend {
namespace {

constexpr std::uint64_t kBlock = 4096;

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const auto slash = std::min(path.find('/'), path.size());
    if (slash > 0) parts.emplace_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return parts;
}

template <class Visit>
void for_all(const SimNodePtr& node, const Visit& visit) {
  visit(node);
  for (const auto& [name, below] : node->entries) for_all(below, visit);
}

void list_files(const SimNode& folder, const std::string& path, std::vector<std::string>& into) {
  for (const auto& [name, node] : folder.entries) {
    if (node->kind == SimKind::file) into.push_back(fmt::format("{}/{}", path, name));
    if (node->kind == SimKind::folder) list_files(*node, fmt::format("{}/{}", path, name), into);
  }
}

}  // namespace

SimDisk::SimDisk(std::function<WallTime()> wall, Changed changed)
    : wall_(std::move(wall)), changed_(std::move(changed)), root_(std::make_shared<SimNode>()) {
  root_->kind = SimKind::folder;
  root_->number = numbers_;
  for (const char* path : {"/home/user", "/tmp", "/usr/bin", "/run"}) make_folder(path);
  for (const char* path : {"/", "/home", "/tmp", "/usr", "/usr/bin", "/run"}) {
    find(path)->owner = SimOwner::root;
  }
}

SimNodePtr SimDisk::find(const std::string& path) const {
  SimNodePtr node = root_;
  for (const std::string& part : parts_of(path)) {
    const auto found = node->entries.find(part);
    if (found == node->entries.end()) return nullptr;
    node = found->second;
  }
  return node;
}

SimNodePtr SimDisk::make(const SimNodePtr& folder, const std::string& name, SimKind kind) {
  CHECK(folder->kind == SimKind::folder);
  auto node = std::make_shared<SimNode>();
  node->kind = kind;
  node->number = ++numbers_;
  node->above = folder;
  node->modified = wall_();
  folder->entries[name] = node;
  // A folder lost in a power cut is a case of its own that nobody has asked about: it stays.
  if (kind == SimKind::folder) folder->durable_entries[name] = node;
  folder->modified = wall_();
  changed_(*folder);
  return node;
}

SimNodePtr SimDisk::make_all(const std::string& path, SimKind kind) {
  const auto parts = parts_of(path);
  SimNodePtr node = root_;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto found = node->entries.find(parts[i]);
    const bool last = i + 1 == parts.size();
    node = found != node->entries.end() ? found->second
                                        : make(node, parts[i], last ? kind : SimKind::folder);
  }
  CHECK(node->kind == kind);
  return node;
}

void SimDisk::unlink(const SimNodePtr& folder, const std::string& name) {
  const auto found = folder->entries.find(name);
  if (found == folder->entries.end()) return;
  for_all(found->second, [this](const SimNodePtr& node) {
    if (node->kind == SimKind::file) give_back(node->bytes.size() - node->hole);
  });
  if (found->second->kind == SimKind::folder) folder->durable_entries.erase(name);
  folder->entries.erase(found);
  folder->modified = wall_();
  changed_(*folder);
}

void SimDisk::move(const SimNodePtr& folder, const std::string& from, const std::string& to) {
  const SimNodePtr node = folder->entries.at(from);
  if (from == to) return;
  const auto old = folder->entries.find(to);
  if (old != folder->entries.end()) give_back(old->second->bytes.size() - old->second->hole);
  folder->entries[to] = node;
  folder->entries.erase(from);
  if (node->kind == SimKind::folder) {
    folder->durable_entries.erase(from);
    folder->durable_entries[to] = node;
  }
  folder->modified = wall_();
  changed_(*folder);
}

Result<void> SimDisk::grow(SimNode& file, std::string_view text) {
  if (!broken.empty()) return fail(broken);
  const std::uint64_t fits = std::min<std::uint64_t>(text.size(), room.value_or(text.size()));
  file.bytes.append(text.substr(0, fits));
  if (room) *room -= fits;
  if (fits > 0) tell(file);
  if (fits < text.size()) return fail("No space left on device");
  return {};
}

Result<void> SimDisk::overwrite(SimNode& file, std::string_view text) {
  if (!broken.empty()) return fail(broken);
  const std::string_view inside = text.substr(0, file.bytes.size());
  const std::uint64_t filled = std::min<std::uint64_t>(file.hole, inside.size());
  if (room && filled > *room) return fail("No space left on device");
  if (room) *room -= filled;
  if (filled > 0) file.hole = 0;
  std::copy(inside.begin(), inside.end(), file.bytes.begin());
  tell(file);
  if (inside.size() == text.size()) return {};
  return grow(file, text.substr(inside.size()));
}

void SimDisk::cut(SimNode& file, std::uint64_t size) {
  if (size >= file.bytes.size()) return;
  const std::uint64_t had = file.bytes.size() - file.hole;
  file.bytes.resize(size);
  file.hole = std::min<std::uint64_t>(file.hole, size);
  const std::uint64_t has = file.bytes.size() - file.hole;
  if (had > has) give_back(had - has);
  tell(file);
}

// Only whole blocks are given back; the part of one is filled with zeros.
void SimDisk::punch(SimNode& file, std::uint64_t end) {
  const std::uint64_t zeros = std::min<std::uint64_t>(end, file.bytes.size());
  std::fill_n(file.bytes.begin(), zeros, '\0');
  const std::uint64_t hole = zeros == file.bytes.size() ? zeros : zeros / kBlock * kBlock;
  if (hole > file.hole) give_back(hole - file.hole);
  file.hole = std::max(file.hole, hole);
  tell(file);
}

void SimDisk::sync(SimNode& node) {
  node.durable_bytes = node.bytes;
  node.durable_hole = node.hole;
  const SimNodePtr folder = node.above.lock();
  if (folder == nullptr) return;
  for (const auto& [name, entry] : folder->entries) {
    if (entry.get() == &node) folder->durable_entries[name] = entry;
  }
}

void SimDisk::sync_entry(SimNode& folder, const std::string& name) {
  const auto found = folder.entries.find(name);
  if (found != folder.entries.end()) {
    folder.durable_entries[name] = found->second;
  } else {
    folder.durable_entries.erase(name);
  }
}

void SimDisk::touch(SimNode& node) { node.modified = wall_(); }

void SimDisk::release_locks_of(std::int64_t pid) {
  for_all(root_, [&](const SimNodePtr& node) {
    if (node->lock_owner == pid) node->lock = 0, node->lock_owner = 0;
  });
}

void SimDisk::cut_power() {
  const auto restore = [](const auto& self, SimNode& node) -> void {
    if (node.kind == SimKind::file) {
      node.bytes = node.durable_bytes;
      node.hole = node.durable_hole;
    }
    node.entries = node.durable_entries;
    for (const auto& [name, below] : node.entries) self(self, *below);
  };
  restore(restore, *root_);
}

std::string SimDisk::path_of(const SimNode& node) {
  const SimNodePtr folder = node.above.lock();
  if (folder == nullptr) return "/";
  const std::string above = folder->above.lock() == nullptr ? "" : path_of(*folder);
  for (const auto& [name, entry] : folder->entries) {
    if (entry.get() == &node) return fmt::format("{}/{}", above, name);
  }
  return above + "/(deleted)";
}

void SimDisk::tell(SimNode& node) {
  touch(node);
  if (const SimNodePtr folder = node.above.lock()) changed_(*folder);
}

void SimDisk::give_back(std::uint64_t bytes) {
  if (room) *room += bytes;
}

void SimDisk::write(const std::string& path, std::string_view text) {
  const SimNodePtr file = make_all(path, SimKind::file);
  file->bytes = text;
  file->hole = 0;
  sync(*file);
  tell(*file);
}

void SimDisk::append(const std::string& path, std::string_view text) {
  const SimNodePtr file = make_all(path, SimKind::file);
  file->bytes += text;
  tell(*file);
}

std::optional<std::string> SimDisk::read(const std::string& path) const {
  const SimNodePtr node = find(path);
  if (node == nullptr || node->kind != SimKind::file) return std::nullopt;
  return node->bytes;
}

void SimDisk::remove(const std::string& path) {
  const SimNodePtr node = find(path);
  if (node == nullptr || node == root_) return;
  const auto name = parts_of(path).back();
  const SimNodePtr folder = node->above.lock();
  unlink(folder, name);
  folder->durable_entries.erase(name);
}

void SimDisk::make_folder(const std::string& path) { make_all(path, SimKind::folder); }

void SimDisk::make_link(const std::string& path, const std::string& to) {
  make_all(path, SimKind::link)->bytes = to;
}

void SimDisk::make_foreign(const std::string& path) {
  CHECK(exists(path));
  find(path)->owner = SimOwner::other;
}

void SimDisk::make_shared(const std::string& path) {
  CHECK(exists(path));
  find(path)->shared = true;
}

void SimDisk::make_unreadable(const std::string& path) {
  CHECK(exists(path));
  find(path)->unreadable = true;
}

bool SimDisk::exists(const std::string& path) const { return find(path) != nullptr; }

bool SimDisk::is_locked(const std::string& path) const {
  const SimNodePtr node = find(path);
  return node != nullptr && node->lock != 0;
}

std::optional<WallTime> SimDisk::modified(const std::string& path) const {
  const SimNodePtr node = find(path);
  if (node == nullptr) return std::nullopt;
  return node->modified;
}

void SimDisk::set_modified(const std::string& path, WallTime modified) {
  CHECK(exists(path));
  find(path)->modified = modified;
}

std::vector<std::string> SimDisk::files(const std::string& folder) const {
  std::vector<std::string> found;
  const SimNodePtr node = find(folder);
  if (node == nullptr || node->kind != SimKind::folder) return found;
  list_files(*node, folder == "/" ? "" : folder, found);
  std::ranges::sort(found);
  return found;
}

}  // namespace tend
