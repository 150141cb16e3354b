// Nodes in memory; see sim_disk.h.
#include "os/sim/sim_disk.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace tend {
namespace {

constexpr std::uint64_t kBlock = 4096;

const SimNodePtr kNowhere;

// Takes the next part off a path; empty at its end.
std::string_view take_part(std::string_view& path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  const std::string_view part = path.substr(0, path.find('/'));
  path.remove_prefix(part.size());
  return part;
}

// Of the end of a path: what is before it is common to most of them.
std::uint64_t hash_of(std::string_view path) {
  constexpr std::size_t kEnd = 24;
  std::uint64_t hash = path.size();
  if (path.size() > kEnd) path.remove_prefix(path.size() - kEnd);
  const auto add = [&hash](const char* bytes, std::size_t size) {
    std::uint64_t part = 0;
    std::memcpy(&part, bytes, size);
    hash = (std::rotl(hash, 5) ^ part) * 0x9e3779b97f4a7c15U;
  };
  constexpr std::size_t kPart = sizeof(hash);
  for (std::size_t at = 0; at + kPart < path.size(); at += kPart) add(path.data() + at, kPart);
  // The last part overlaps the one before it.
  const std::size_t last = std::min(kPart, path.size());
  add(path.data() + path.size() - last, last);
  return hash ^ hash >> 32U;
}

template <class Visit>
void for_all(SimNode& node, const Visit& visit) {
  visit(node);
  for (const auto& [name, below] : node.entries) for_all(*below, visit);
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

// REQUIRES a power of two of places.
const SimNodePtr& SimDisk::find(std::string_view path) const {
  Found& found = found_[hash_of(path) & (found_.size() - 1)];
  if (found.as_of != names_changed_ || found.path != path) {
    found.path = path;
    found.node = &walk(path);
    found.as_of = names_changed_;
  }
  return *found.node;
}

const SimNodePtr& SimDisk::walk(std::string_view path) const {
  const SimNodePtr* node = &root_;
  for (auto part = take_part(path); !part.empty(); part = take_part(path)) {
    node = &(*node)->entries.find(part);
    if (*node == nullptr) return kNowhere;
  }
  return *node;
}

SimNodePtr SimDisk::make(const SimNodePtr& folder, std::string_view name, SimKind kind) {
  CHECK(folder->kind == SimKind::folder);
  auto node = std::make_shared<SimNode>();
  node->kind = kind;
  node->number = ++numbers_;
  node->above = folder;
  touch(*node);
  change(*folder, {.from = {}, .to = std::string(name), .node = node, .replaced = nullptr});
  return node;
}

SimNodePtr SimDisk::make_all(std::string_view path, SimKind kind) {
  SimNodePtr node = find(path);
  if (node != nullptr) {
    CHECK(node->kind == kind);
    return node;
  }
  node = root_;
  for (auto part = take_part(path); !part.empty();) {
    const auto next = take_part(path);
    const SimNodePtr found = node->entries.find(part);
    node = found != nullptr ? found : make(node, part, next.empty() ? kind : SimKind::folder);
    part = next;
  }
  CHECK(node->kind == kind);
  return node;
}

void SimDisk::unlink(SimNode& folder, std::string_view name) {
  const SimNodePtr node = folder.entries.find(name);
  if (node == nullptr) return;
  for_all(*node, [this](const SimNode& below) {
    if (below.kind == SimKind::file) give_back(below.bytes.size() - below.hole);
  });
  change(folder, {.from = std::string(name), .to = {}, .node = node, .replaced = nullptr});
}

void SimDisk::move(SimNode& folder, std::string_view from, std::string_view to) {
  if (from == to) return;
  const SimNodePtr node = folder.entries.find(from);
  const SimNodePtr old = folder.entries.find(to);
  CHECK(node != nullptr);
  if (old != nullptr) give_back(old->bytes.size() - old->hole);
  change(folder, {.from = std::string(from), .to = std::string(to), .node = node, .replaced = old});
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
  keep_synced(file);
  if (filled > 0) file.hole = 0;
  std::copy(inside.begin(), inside.end(), file.bytes.begin());
  tell(file);
  if (inside.size() == text.size()) return {};
  return grow(file, text.substr(inside.size()));
}

void SimDisk::cut(SimNode& file, std::uint64_t size) {
  if (size >= file.bytes.size()) return;
  if (size < file.synced) keep_synced(file);
  file.shortest = std::min(file.shortest, size);
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
  if (zeros > file.hole) {
    keep_synced(file);
    std::fill_n(file.bytes.begin() + static_cast<std::ptrdiff_t>(file.hole), zeros - file.hole,
                '\0');
  }
  const std::uint64_t hole = zeros == file.bytes.size() ? zeros : zeros / kBlock * kBlock;
  if (hole > file.hole) give_back(hole - file.hole);
  file.hole = std::max(file.hole, hole);
  tell(file);
}

void SimDisk::touch(SimNode& node) {
  node.written = wall_();
  node.modified = node.written;
}

bool SimDisk::lock(const SimNodePtr& file, std::uint64_t number, std::int64_t pid) {
  if (file->lock != 0) return file->lock == number;
  file->lock = number;
  file->lock_owner = pid;
  locked_.push_back(file);
  return true;
}

void SimDisk::unlock(SimNode& file, std::uint64_t number) {
  if (file.lock != number) return;
  file.lock = 0;
  file.lock_owner = 0;
  std::erase_if(locked_, [&](const auto& one) {
    const SimNodePtr node = one.lock();
    return node == nullptr || node.get() == &file;
  });
}

void SimDisk::release_locks_of(std::int64_t pid) {
  std::erase_if(locked_, [&](const auto& one) {
    const SimNodePtr node = one.lock();
    if (node == nullptr) return true;
    if (node->lock_owner != pid) return false;
    node->lock = 0;
    node->lock_owner = 0;
    return true;
  });
}

std::string SimDisk::path_of(const SimNode& node) {
  std::vector<std::string_view> parts;  // the last one first
  const SimNode* below = &node;
  for (SimNodePtr folder = below->above.lock(); folder != nullptr; folder = below->above.lock()) {
    const bool has_name = folder->entries.find(below->name).get() == below;
    parts.emplace_back(has_name ? std::string_view(below->name) : "(deleted)");
    below = folder.get();
  }
  if (parts.empty()) return "/";
  std::string path;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) path.append("/").append(*part);
  return path;
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
  settle(*file);
  tell(*file);
}

void SimDisk::append(const std::string& path, std::string_view text) {
  const SimNodePtr file = make_all(path, SimKind::file);
  file->bytes += text;
  tell(*file);
}

std::optional<std::string> SimDisk::read(const std::string& path) const {
  const SimNodePtr& node = find(path);
  if (node == nullptr || node->kind != SimKind::file) return std::nullopt;
  return node->bytes;
}

void SimDisk::remove(const std::string& path) {
  const SimNodePtr node = find(path);
  if (node == nullptr || node == root_) return;
  unlink(*node->above.lock(), node->name);
  settle_names_above(*node);
}

void SimDisk::make_folder(const std::string& path) { settle(*make_all(path, SimKind::folder)); }

void SimDisk::make_link(const std::string& path, const std::string& to) {
  const SimNodePtr link = make_all(path, SimKind::link);
  link->bytes = to;
  settle(*link);
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

void SimDisk::make_readable(const std::string& path) {
  CHECK(exists(path));
  find(path)->unreadable = false;
}

bool SimDisk::exists(const std::string& path) const { return find(path) != nullptr; }

bool SimDisk::is_locked(const std::string& path) const {
  const SimNodePtr& node = find(path);
  return node != nullptr && node->lock != 0;
}

std::optional<WallTime> SimDisk::modified(const std::string& path) const {
  const SimNodePtr& node = find(path);
  if (node == nullptr) return std::nullopt;
  return node->modified;
}

void SimDisk::set_modified(const std::string& path, WallTime modified) {
  CHECK(exists(path));
  find(path)->modified = modified;
}

std::vector<std::string> SimDisk::files(const std::string& folder) const {
  std::vector<std::string> found;
  const SimNodePtr& node = find(folder);
  if (node == nullptr || node->kind != SimKind::folder) return found;
  list_files(*node, folder == "/" ? "" : folder, found);
  std::ranges::sort(found);
  return found;
}

}  // namespace tend
