// Every method opens with handle->call(): that is where a process is killed. A replace() is the
// four calls that it really is.
#include "os/sim/sim_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "base/check.h"

namespace tend {
namespace {

constexpr const char* kOver = "this process is over";
constexpr const char* kMissing = "No such file or directory";
constexpr int kMostParts = 1'000;

using Sync = Folder::Sync;
using Open = Folder::Open;

std::deque<std::string> parts_of(std::string_view path) {
  std::deque<std::string> parts;
  while (!path.empty()) {
    const auto slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    if (!part.empty() && part != ".") parts.emplace_back(part);
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return parts;
}

// Why a node is no folder of ours; empty if it is one.
std::string folder_trouble(const SimNode& node, const std::string& path, bool last) {
  if (node.kind == SimKind::link) return path + " is a link, not a folder";
  if (node.kind != SimKind::folder) return "cannot open " + path + ": Not a directory";
  if (node.owner == SimOwner::other) return path + " belongs to another user";
  if (last && node.owner != SimOwner::us) return path + " belongs to another user";
  if (node.shared) return "others can write " + path;
  if (node.unreadable) return "cannot open " + path + ": Permission denied";
  return "";
}

// Why a node is no plain file of ours.
std::string file_trouble(const SimNode& node, const std::string& path) {
  if (node.kind == SimKind::link) return path + " is a link, not a file";
  if (node.kind != SimKind::file) return path + " is not a plain file";
  if (node.owner != SimOwner::us) return path + " belongs to another user";
  if (node.unreadable) return "cannot open " + path + ": Permission denied";
  return "";
}

FileFacts facts_of(const SimNode& node) { return {node.bytes.size(), node.number, node.modified}; }

class SimFile final : public File {
 public:
  SimFile(SimHandlePtr handle, SimNodePtr node, std::string path, Open how)
      : handle_(std::move(handle)),
        node_(std::move(node)),
        path_(std::move(path)),
        how_(how),
        number_(handle_->kernel->random() | 1U) {}
  // The locks of the dead are released with them; a later holder keeps its own.
  ~SimFile() override {
    if (node_->lock == number_) node_->lock = 0, node_->lock_owner = 0;
  }
  SimFile(const SimFile&) = delete;
  SimFile& operator=(const SimFile&) = delete;

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    if (!handle_->call()) return fail(kOver);
    if (offset >= node_->bytes.size()) return 0;
    const std::size_t size = std::min<std::size_t>(into.size(), node_->bytes.size() - offset);
    std::copy_n(node_->bytes.data() + offset, size, into.data());
    return size;
  }

  Result<void> append(std::string_view bytes) override {
    if (auto may = begin_writing(); !may) return may;
    return named(disk().grow(*node_, bytes));
  }

  Result<void> overwrite(std::string_view bytes) override {
    CHECK(how_ != Open::append);  // the real one would write at the end
    if (auto may = begin_writing(); !may) return may;
    return named(disk().overwrite(*node_, bytes));
  }

  Result<FileFacts> facts() override {
    if (!handle_->call()) return fail(kOver);
    return facts_of(*node_);
  }

  Result<void> touch() override {
    if (!handle_->call()) return fail(kOver);
    if (!disk().broken.empty()) return named(fail(disk().broken));
    disk().touch(*node_);
    return {};
  }

  Result<void> touch(WallTime modified) override {
    if (auto touched = touch(); !touched) return touched;
    node_->modified = modified;
    return {};
  }

  Result<void> punch(std::uint64_t end) override {
    if (auto may = begin_writing(); !may) return may;
    if (!disk().can_punch) return named(fail("Operation not supported"));
    disk().punch(*node_, end);
    return {};
  }

  Result<std::uint64_t> data_from(std::uint64_t offset) override {
    if (!handle_->call()) return fail(kOver);
    return std::min<std::uint64_t>(std::max(offset, node_->hole), node_->bytes.size());
  }

  Result<void> cut(std::uint64_t size) override {
    if (auto may = begin_writing(); !may) return may;
    disk().cut(*node_, size);
    return {};
  }

  Result<void> sync() override {
    if (!handle_->call()) return fail(kOver);
    if (!disk().broken.empty()) return named(fail(disk().broken));
    disk().sync(*node_);
    return {};
  }

  Result<bool> lock() override {
    if (!handle_->call()) return fail(kOver);
    if (node_->lock != 0) return node_->lock == number_;
    node_->lock = number_;
    node_->lock_owner = handle_->row.lock()->facts.id.pid;
    return true;
  }

  Result<bool> is_locked() override {
    if (!handle_->call()) return fail(kOver);
    return node_->lock != 0 && node_->lock != number_;
  }

 private:
  SimDisk& disk() { return handle_->kernel->disk; }

  Result<void> begin_writing() {
    if (!handle_->call()) return fail(kOver);
    if (how_ == Open::read) return named(fail("Bad file descriptor"));
    if (!disk().broken.empty()) return named(fail(disk().broken));
    return {};
  }

  Result<void> named(Result<void> result) const {
    if (result) return result;
    return fail("cannot write " + path_ + ": " + result.error().text);
  }

  SimHandlePtr handle_;
  SimNodePtr node_;
  std::string path_;
  Open how_;
  std::uint64_t number_;
};

class SimFolder final : public Folder {
 public:
  SimFolder(SimHandlePtr handle, SimNodePtr node, std::string path)
      : handle_(std::move(handle)), node_(std::move(node)), path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const override { return path_; }

  Result<std::unique_ptr<File>> open(const std::string& name, Open how) override;
  Result<std::optional<std::string>> read(const std::string& name, std::size_t most) override;
  Result<void> replace(const std::string& name, std::string_view bytes, Sync sync,
                       std::optional<WallTime> modified) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<std::optional<FileFacts>> facts(const std::string& name) override;
  Result<void> remove(const std::string& name) override;
  Result<std::unique_ptr<Folder>> folder(const std::string& name) override;
  Result<std::unique_ptr<Folder>> make_folder(const std::string& name) override;
  Result<std::unique_ptr<Folder>> make_new_folder(const std::string& name) override;
  Result<std::vector<std::string>> folders(std::size_t most) override {
    return names_of(SimKind::folder, most);
  }
  Result<std::vector<std::string>> file_names(std::size_t most) override {
    return names_of(SimKind::file, most);
  }
  void sweep(Duration /*ago*/) override {}  // a replace() here leaves nothing

 private:
  Result<std::vector<std::string>> names_of(SimKind kind, std::size_t most);
  SimDisk& disk() { return handle_->kernel->disk; }
  [[nodiscard]] std::string at(const std::string& name) const {
    return (path_ == "/" ? "" : path_) + "/" + name;
  }

  // Opens every call: it happens, and the name is one.
  Result<void> begin(const std::string& name) {
    if (!handle_->call()) return fail(kOver);
    if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos) {
      return fail("'" + name + "' is no name of a file");
    }
    return {};
  }

  // The plain file of ours with that name; nullptr if there is nothing.
  Result<SimNodePtr> plain(const std::string& name) {
    const auto found = node_->entries.find(name);
    if (found == node_->entries.end()) return nullptr;
    if (auto trouble = file_trouble(*found->second, at(name)); !trouble.empty()) {
      return fail(std::move(trouble));
    }
    return found->second;
  }

  Result<void> may_make(const std::string& name) {
    if (!disk().broken.empty()) return fail("cannot make " + at(name) + ": " + disk().broken);
    if (disk().room == std::uint64_t{0}) {
      return fail("cannot make " + at(name) + ": No space left on device");
    }
    return {};
  }

  Result<void> write_aside(const std::string& aside, std::string_view bytes, Sync sync,
                           std::optional<WallTime> modified);
  Result<std::unique_ptr<Folder>> existing_folder(const std::string& name);

  SimHandlePtr handle_;
  SimNodePtr node_;
  std::string path_;
};

Result<std::unique_ptr<File>> SimFolder::open(const std::string& name, Open how) {
  if (auto begun = begin(name); !begun) return fail(begun.error().text);
  auto node = plain(name);
  if (!node) return fail(node.error().text);
  if (how == Open::exclusive && *node != nullptr) {
    return fail("cannot make " + at(name) + ": File exists");
  }
  if (*node == nullptr) {
    if (how == Open::read) return fail("cannot open " + at(name) + ": " + kMissing);
    if (auto may = may_make(name); !may) return fail(may.error().text);
    node = disk().make(node_, name, SimKind::file);
  }
  return std::make_unique<SimFile>(handle_, *node, at(name), how);
}

Result<std::optional<std::string>> SimFolder::read(const std::string& name, std::size_t most) {
  if (auto begun = begin(name); !begun) return fail(begun.error().text);
  const auto node = plain(name);
  if (!node) return fail(node.error().text);
  if (*node == nullptr) return std::nullopt;
  if ((*node)->bytes.size() > most) {
    return fail(fmt::format("{} is larger than {} bytes", at(name), most));
  }
  return (*node)->bytes;
}

Result<void> SimFolder::write_aside(const std::string& aside, std::string_view bytes, Sync sync,
                                    std::optional<WallTime> modified) {
  const SimNodePtr node = node_->entries.at(aside);
  if (!handle_->call()) return fail(kOver);
  if (auto written = disk().grow(*node, bytes); !written) return written;
  if (modified) node->modified = *modified;
  if (sync == Sync::yes) {
    if (!handle_->call()) return fail(kOver);
    node->durable_bytes = node->bytes;
  }
  return {};
}

Result<void> SimFolder::replace(const std::string& name, std::string_view bytes, Sync sync,
                                std::optional<WallTime> modified) {
  if (auto begun = begin(name); !begun) return begun;
  const auto old = node_->entries.find(name);
  if (old != node_->entries.end() && old->second->kind == SimKind::folder) {
    return fail("cannot replace " + at(name) + ": Is a directory");
  }
  if (auto may = may_make(name); !may) return may;
  const std::string aside = fmt::format(".{}.{:016x}", name, handle_->kernel->random());
  disk().make(node_, aside, SimKind::file);
  if (auto written = write_aside(aside, bytes, sync, modified); !written) {
    if (!handle_->dead) disk().unlink(node_, aside);
    return fail("cannot write " + at(name) + ": " + written.error().text);
  }
  if (!handle_->call()) return fail(kOver);
  disk().move(node_, aside, name);
  if (sync == Sync::yes) {
    if (!handle_->call()) return fail(kOver);
    disk().sync_entry(*node_, name);
  }
  return {};
}

Result<void> SimFolder::rename(const std::string& from, const std::string& to) {
  if (auto begun = begin(from); !begun) return begun;
  if (to.empty() || to.find('/') != std::string::npos) {
    return fail("'" + to + "' is no name of a file");
  }
  if (!node_->entries.contains(from)) {
    return fail("cannot rename " + at(from) + ": " + kMissing);
  }
  if (!disk().broken.empty()) return fail("cannot rename " + at(from) + ": " + disk().broken);
  disk().move(node_, from, to);
  return {};
}

Result<std::optional<FileFacts>> SimFolder::facts(const std::string& name) {
  if (auto begun = begin(name); !begun) return fail(begun.error().text);
  const auto node = plain(name);
  if (!node) return fail(node.error().text);
  if (*node == nullptr) return std::nullopt;
  return facts_of(**node);
}

Result<void> SimFolder::remove(const std::string& name) {
  if (auto begun = begin(name); !begun) return begun;
  const auto found = node_->entries.find(name);
  if (found == node_->entries.end()) return {};
  if (found->second->kind == SimKind::folder) {
    return fail("cannot remove " + at(name) + ": Is a directory");
  }
  if (!disk().broken.empty()) return fail("cannot remove " + at(name) + ": " + disk().broken);
  disk().unlink(node_, name);
  return {};
}

Result<std::unique_ptr<Folder>> SimFolder::existing_folder(const std::string& name) {
  const SimNodePtr node = node_->entries.at(name);
  if (auto trouble = folder_trouble(*node, at(name), true); !trouble.empty()) {
    return fail(std::move(trouble));
  }
  return std::make_unique<SimFolder>(handle_, node, at(name));
}

Result<std::unique_ptr<Folder>> SimFolder::folder(const std::string& name) {
  if (auto begun = begin(name); !begun) return fail(begun.error().text);
  if (!node_->entries.contains(name)) return nullptr;
  return existing_folder(name);
}

Result<std::unique_ptr<Folder>> SimFolder::make_folder(const std::string& name) {
  if (auto begun = begin(name); !begun) return fail(begun.error().text);
  if (node_->entries.contains(name)) return existing_folder(name);
  if (auto may = may_make(name); !may) return fail(may.error().text);
  disk().make(node_, name, SimKind::folder);
  return existing_folder(name);
}

Result<std::unique_ptr<Folder>> SimFolder::make_new_folder(const std::string& name) {
  if (auto begun = begin(name); !begun) return fail(begun.error().text);
  if (node_->entries.contains(name)) return nullptr;
  if (auto may = may_make(name); !may) return fail(may.error().text);
  disk().make(node_, name, SimKind::folder);
  return existing_folder(name);
}

Result<std::vector<std::string>> SimFolder::names_of(SimKind kind, std::size_t most) {
  if (!handle_->call()) return fail(kOver);
  std::vector<std::string> names;
  for (const auto& [name, node] : node_->entries) {
    if (names.size() == most) break;
    if (node->kind == kind) names.push_back(name);
  }
  return names;
}

}  // namespace

// Links on the way are followed if they are ours or root's; the last part is the folder itself.
Result<std::unique_ptr<Folder>> SimFolders::walk(const std::string& path, Missing missing) {
  if (!handle_->call()) return fail(kOver);
  if (!path.starts_with('/')) return fail("'" + path + "' is not an absolute path");
  SimDisk& disk = handle_->kernel->disk;
  std::deque<std::string> ahead = parts_of(path);
  SimNodePtr node = disk.root();
  for (int steps = 0; !ahead.empty(); ++steps) {
    if (steps == kMostParts) return fail(path + " has too many parts");
    const std::string here = node == disk.root() ? "" : SimDisk::path_of(*node);
    if (auto trouble = folder_trouble(*node, here, false); !trouble.empty()) {
      return fail(std::move(trouble));
    }
    const std::string part = ahead.front();
    ahead.pop_front();
    if (part == "..") {
      if (node != disk.root()) node = node->above.lock();
      continue;
    }
    if (!node->entries.contains(part)) {
      const std::string missed = fmt::format("{}/{}", here, part);
      if (missing == Missing::fail) return fail("cannot open " + missed + ": " + kMissing);
      if (!disk.broken.empty()) return fail("cannot make " + missed + ": " + disk.broken);
      disk.make(node, part, SimKind::folder);
    }
    const SimNodePtr next = node->entries.at(part);
    const bool follow = next->kind == SimKind::link && !ahead.empty();
    if (!follow) {
      node = next;
      continue;
    }
    if (next->owner == SimOwner::other)
      return fail(fmt::format("{}/{} is a link of another user", here, part));
    const auto parts = parts_of(next->bytes);
    ahead.insert(ahead.begin(), parts.begin(), parts.end());
    if (next->bytes.starts_with('/')) node = disk.root();
  }
  const std::string real = SimDisk::path_of(*node);
  if (auto trouble = folder_trouble(*node, real, true); !trouble.empty()) {
    return fail(std::move(trouble));
  }
  return std::make_unique<SimFolder>(handle_, node, real);
}

Result<std::unique_ptr<Folder>> SimFolders::open(const std::string& path) {
  return walk(path, Missing::fail);
}

Result<std::unique_ptr<Folder>> SimFolders::make(const std::string& path) {
  return walk(path, Missing::make);
}

Result<std::string> SimFolders::working_folder() {
  if (!handle_->call()) return fail(kOver);
  return handle_->row.lock()->facts.working_folder;
}

Result<std::string> SimFolders::real_path(const std::string& path) {
  if (!handle_->call()) return fail(kOver);
  SimDisk& disk = handle_->kernel->disk;
  std::deque<std::string> ahead = parts_of(
      path.starts_with('/') ? path : handle_->row.lock()->facts.working_folder + "/" + path);
  SimNodePtr node = disk.root();
  for (int steps = 0; !ahead.empty(); ++steps) {
    if (steps == kMostParts) return fail("cannot find " + path + ": Too many levels of links");
    const std::string part = ahead.front();
    ahead.pop_front();
    const auto found = node->entries.find(part);
    if (part == "..") {
      if (node != disk.root()) node = node->above.lock();
    } else if (found == node->entries.end()) {
      return fail("cannot find " + path + ": " + kMissing);
    } else if (found->second->kind != SimKind::link) {
      node = found->second;
    } else {
      const std::string to = found->second->bytes;
      const auto parts = parts_of(to);
      ahead.insert(ahead.begin(), parts.begin(), parts.end());
      if (to.starts_with('/')) node = disk.root();
    }
  }
  return SimDisk::path_of(*node);
}

std::optional<WallTime> SimFolders::newest_below(const std::string& path, std::string_view part,
                                                 std::size_t depth) {
  std::optional<WallTime> newest;
  const SimNodePtr top = handle_->call() ? handle_->kernel->disk.find(path) : nullptr;
  const auto look = [&](const auto& again, const SimNode& node, std::string_view name,
                        std::size_t left) -> void {
    if (node.kind == SimKind::file && name.contains(part)) {
      newest = std::max(newest.value_or(node.modified), node.modified);
    }
    if (node.kind != SimKind::folder || left == 0) return;
    for (const auto& [entry, below] : node.entries) again(again, *below, entry, left - 1);
  };
  if (top != nullptr) look(look, *top, top->kind == SimKind::file ? part : "", depth + 1);
  return newest;
}

}  // namespace tend
