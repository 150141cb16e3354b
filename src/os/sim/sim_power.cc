// What a sync makes durable, and what a power cut leaves of the rest; see sim_disk.h.
#include <algorithm>
#include <array>
#include <ranges>
#include <utility>

#include "os/sim/sim_disk.h"

namespace tend {
namespace {

constexpr std::size_t kSector = 512;  // a disk writes a whole one or nothing
// Older changes of names were written by the system itself, as after half a minute on a real one.
constexpr std::size_t kMostChanges = 16;

void undo(SimEntries& names, const SimNameChange& change) {
  if (!change.to.empty() && change.replaced == nullptr) names.erase(change.to);
  if (!change.to.empty() && change.replaced != nullptr) names.put(change.to, change.replaced);
  if (!change.from.empty()) names.put(change.from, change.node);
}

void redo(SimEntries& names, const SimNameChange& change) {
  if (!change.from.empty()) names.erase(change.from);
  if (!change.to.empty()) names.put(change.to, change.node);
}

bool has_to_do_with(const SimNameChange& change, const std::vector<std::string>& names) {
  return std::ranges::any_of(
      names, [&](const std::string& name) { return name == change.from || name == change.to; });
}

void add_names(const SimNameChange& change, std::vector<std::string>& names) {
  for (const std::string& name : {change.from, change.to}) {
    if (!name.empty()) names.push_back(name);
  }
}

// What a sync has left of a name is only noted while it is not what the name has now.
void note_synced(SimNode& folder, const std::string& name, const SimNodePtr& node) {
  if (name.empty()) return;
  if (folder.entries.find(name) == node) {
    folder.synced_names.erase(name);
  } else {
    folder.synced_names.put(name, node);
  }
}

// The changes that gave a node its name, and those before them that they build upon.
void settle_name(SimNode& folder, const SimNode& node) {
  const SimNodePtr& now = folder.entries.find(node.name);
  if (now == nullptr || now.get() == &node) folder.synced_names.erase(node.name);
  std::vector<std::string> names;
  for (SimNameChange& change : std::views::reverse(folder.changes)) {
    if (change.node.get() != &node && !has_to_do_with(change, names)) continue;
    change.durable = true;
    add_names(change, names);
  }
  for (const SimNameChange& change : folder.changes) {
    if (!change.durable || change.node->kind == SimKind::folder) continue;
    note_synced(folder, change.from, nullptr);
    note_synced(folder, change.to, change.node);
  }
}

void settle_bytes(SimNode& file) {
  file.synced = file.bytes.size();
  file.synced_hole = file.hole;
  file.shortest = file.bytes.size();
  file.synced_bytes.reset();
}

std::string synced_bytes_of(const SimNode& file) {
  return file.synced_bytes ? *file.synced_bytes : file.bytes.substr(0, file.synced);
}

std::uint64_t used_below(const SimNode& node) {
  std::uint64_t used = node.kind == SimKind::file ? node.bytes.size() - node.hole : 0;
  for (const auto& [name, below] : node.entries) used += used_below(*below);
  return used;
}

// What is there now is what there is.
void settle_all(SimNode& node) {
  settle_bytes(node);
  node.changes.clear();
  node.synced_names.clear();
  for (const auto& [name, below] : node.entries) {
    below->name = name;
    settle_all(*below);
  }
}

void lose_unsynced(SimNode& node) {
  if (node.kind == SimKind::file) {
    node.bytes = synced_bytes_of(node);
    node.hole = node.synced_hole;
  }
  for (const auto& [name, before] : node.synced_names) {
    if (before == nullptr) {
      node.entries.erase(name);
    } else {
      node.entries.put(name, before);
    }
  }
  for (const auto& [name, below] : node.entries) lose_unsynced(*below);
}

// One file, after a power cut. Bytes that were there all the time are new or old by the sector,
// those below a hole all of one kind; then comes a first part of what was added.
void tear_bytes(SimNode& file, const SimDisk::Chance& chance) {
  const std::string before = synced_bytes_of(file);
  const std::size_t stayed = std::min<std::size_t>(file.shortest, before.size());
  if (stayed < before.size() && chance() % 2 == 0) {  // not even the cut was done
    file.bytes = before;
    file.hole = file.synced_hole;
    return;
  }
  const bool punched = file.hole > file.synced_hole;
  const bool has_hole = punched && chance() % 2 == 0;
  std::string left = file.bytes.substr(0, stayed);
  for (std::size_t at = 0; at < stayed; at += kSector) {
    const bool in_hole = punched && at < file.hole;
    const bool is_new = in_hole ? has_hole : chance() % 2 == 0;
    if (!is_new) left.replace(at, kSector, before, at, std::min(kSector, stayed - at));
  }
  const std::string_view added = std::string_view(file.bytes).substr(stayed);
  const std::size_t kept = chance() % (added.size() + 1);
  left.append(added.substr(0, kept));
  if (chance() % 4 == 0) left.append(added.size() - kept, '\0');
  const std::uint64_t old_hole = std::min<std::uint64_t>({file.hole, file.synced_hole, stayed});
  file.hole = std::min<std::uint64_t>(has_hole ? file.hole : old_hole, left.size());
  file.bytes = std::move(left);
}

// The file system wrote the first changes in their order; of the rest what chance had it, but none
// before another one of the same name.
void tear_names(SimNode& folder, const SimDisk::Chance& chance) {
  const std::vector<SimNameChange> changes = std::exchange(folder.changes, {});
  if (changes.empty()) return;
  for (const SimNameChange& change : std::views::reverse(changes)) undo(folder.entries, change);
  const std::size_t written = chance() % (changes.size() + 1);
  std::vector<std::string> lost;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const SimNameChange& change = changes[i];
    const bool is_kept = i < written || chance() % 2 == 0;
    if (change.durable || (is_kept && !has_to_do_with(change, lost))) {
      redo(folder.entries, change);
    } else {
      add_names(change, lost);
    }
  }
}

void tear_all(SimNode& node, const SimDisk::Chance& chance) {
  if (node.kind == SimKind::folder) tear_names(node, chance);
  if (node.kind == SimKind::file && (node.synced_bytes || node.synced != node.bytes.size())) {
    tear_bytes(node, chance);
  }
  for (const auto& [name, below] : node.entries) tear_all(*below, chance);
}

}  // namespace

void SimDisk::change(SimNode& folder, SimNameChange change) {
  const std::array names{&change.from, &change.to};
  for (const std::string* name : names) {
    if (name->empty() || folder.synced_names.contains(*name)) continue;
    folder.synced_names.put(*name, folder.entries.find(*name));
  }
  ++names_changed_;
  redo(folder.entries, change);
  for (const std::string* name : names) {
    // Folders come and go for good, unless the cut tears.
    const bool is_settled = change.node->kind == SimKind::folder ||
                            folder.synced_names.find(*name) == folder.entries.find(*name);
    if (is_settled) folder.synced_names.erase(*name);
  }
  if (!change.to.empty()) change.node->name = change.to;
  folder.changes.push_back(std::move(change));
  if (folder.changes.size() == 2 * kMostChanges) {
    folder.changes.erase(folder.changes.begin(), folder.changes.begin() + kMostChanges);
  }
  touch(folder);
  changed_(folder);
}

void SimDisk::keep_synced(SimNode& file) {
  if (!file.synced_bytes && file.synced > 0) file.synced_bytes = file.bytes.substr(0, file.synced);
}

void SimDisk::settle(SimNode& node) {
  settle_bytes(node);
  settle_names_above(node);
}

void SimDisk::settle_names_above(const SimNode& node) {
  const SimNode* below = &node;
  for (SimNodePtr folder = node.above.lock(); folder != nullptr; folder = folder->above.lock()) {
    settle_name(*folder, *below);
    below = folder.get();
  }
}

void SimDisk::sync(SimNode& file) {
  if (!syncs_lie) settle(file);
}

void SimDisk::sync_bytes(SimNode& file) {
  if (!syncs_lie) settle_bytes(file);
}

void SimDisk::sync_names(SimNode& folder) {
  if (syncs_lie) return;
  folder.changes.clear();
  folder.synced_names.clear();
  settle_names_above(folder);
}

void SimDisk::account(std::uint64_t used_before) {
  const std::uint64_t used = used_below(*root_);
  if (room) *room = *room + used_before - std::min(used, *room + used_before);
}

void SimDisk::cut_power() {
  const std::uint64_t used = used_below(*root_);
  ++names_changed_;
  lose_unsynced(*root_);
  settle_all(*root_);
  account(used);
}

void SimDisk::tear(const Chance& chance) {
  const std::uint64_t used = used_below(*root_);
  ++names_changed_;
  tear_all(*root_, chance);
  settle_all(*root_);
  account(used);
}

}  // namespace tend
