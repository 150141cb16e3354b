// Every method opens with a call: that is where a process is killed. A replace() is the four calls
// that it really is.
#include "os/sim/sim_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <tuple>

#include "os/sim/sim_file.h"

namespace tend {
namespace {

constexpr std::string_view kAside = ".tmp";
constexpr const char* kMissing = "No such file or directory";
constexpr int kMostParts = 1'000;

using Sync = Folder::Sync;
using Open = Folder::Open;

// What is still to be walked of a path. Nothing is copied until a link is on the way.
class PathAhead {
 public:
  explicit PathAhead(std::string_view path) : rest_(path) { skip(); }

  [[nodiscard]] bool empty() const { return rest_.empty(); }
  std::string_view take() {
    const std::string_view part = rest_.substr(0, rest_.find('/'));
    rest_.remove_prefix(part.size());
    skip();
    return part;
  }
  void go_by(std::string_view link) {
    own_ = fmt::format("{}/{}", link, rest_);
    rest_ = own_;
    skip();
  }

 private:
  void skip() {
    while (rest_.starts_with('/') || rest_.starts_with("./") || rest_ == ".")
      rest_.remove_prefix(1);
  }

  std::string own_;
  std::string_view rest_;
};

bool is_folder(const SimNode& node, bool last) {
  return node.kind == SimKind::folder && node.owner != SimOwner::other && !node.shared &&
         !node.unreadable && (!last || node.owner == SimOwner::us);
}

// Why a node is no folder of ours.
std::string folder_trouble(const SimNode& node, const std::string& path, bool last) {
  if (node.kind == SimKind::link) return path + " is a link, not a folder";
  if (node.kind != SimKind::folder) return "cannot open " + path + ": Not a directory";
  const bool is_owned = node.owner == SimOwner::us || (node.owner == SimOwner::root && !last);
  if (!is_owned) return path + " belongs to another user";
  return node.shared ? "others can write " + path : "cannot open " + path + ": Permission denied";
}

// Nearly all names that are asked for and not there are short.
[[gnu::always_inline]] inline bool has_slash(std::string_view name, const SimMark& mark) {
  return mark.size <= SimMark::kShort ? mark.has('/') : name.contains('/');
}

[[gnu::always_inline]] inline bool is_name(std::string_view name, const SimMark& mark) {
  return (mark.size > 2 || (!name.empty() && name != "." && name != "..")) &&
         !has_slash(name, mark);
}

bool is_name(std::string_view name) { return is_name(name, SimMark::of(name)); }

std::string name_trouble(const std::string& name) { return "'" + name + "' is no name of a file"; }

// Whether a node is a plain file of ours that we can open.
bool is_plain(const SimNode& node) {
  return node.kind == SimKind::file && node.owner == SimOwner::us && !node.unreadable;
}

// Why it is not.
std::string file_trouble(const SimNode& node, const std::string& path) {
  if (node.kind == SimKind::link) return path + " is a link, not a file";
  if (node.kind != SimKind::file) return path + " is not a plain file";
  if (node.owner != SimOwner::us) return path + " belongs to another user";
  return "cannot open " + path + ": Permission denied";
}

class SimFolder final : public Folder {
 public:
  SimFolder(SimHandlePtr handle, SimNodePtr node, std::string path)
      : handle_(std::move(handle)),
        node_(std::move(node)),
        path_(std::make_shared<const std::string>(std::move(path))) {}
  SimFolder(SimHandlePtr handle, SimNodePtr node, std::shared_ptr<const std::string> path)
      : handle_(std::move(handle)), node_(std::move(node)), path_(std::move(path)) {}

  [[nodiscard]] const std::string& path() const override { return *path_; }

  Result<std::unique_ptr<File>> open(const std::string& name, Open how) override;
  Result<std::optional<std::string>> read(const std::string& name, std::size_t most) override;
  Result<void> replace(const std::string& name, std::string_view bytes, Sync sync,
                       std::optional<WallTime> modified) override;
  Result<bool> make_file(const std::string& name, std::string_view bytes, Sync sync) override;
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
  void sweep(Duration ago) override;

 private:
  Result<std::vector<std::string>> names_of(SimKind kind, std::size_t most);
  SimDisk& disk() { return handle_->kernel->disk; }
  [[nodiscard]] std::string at(const std::string& name) const {
    return (*path_ == "/" ? "" : *path_) + "/" + name;
  }
  // Whether that is the path of a name in here.
  [[nodiscard]] bool is_at(std::string_view path, const std::string& name) const {
    return *path_ != "/" && path.size() == path_->size() + 1 + name.size() &&
           path.starts_with(*path_) && path[path_->size()] == '/' && path.ends_with(name);
  }

  // By others, while whoever writes it was stopped.
  [[nodiscard]] bool is_swept(const std::string& aside) const {
    return node_->entries.find(aside) == nullptr;
  }

  // Opens a call that changes names: it happens, and the name is one.
  Result<void> begin(const std::string& name) {
    if (!handle_->call_disk()) return sim_over();
    if (!is_name(name)) return fail(name_trouble(name));
    return {};
  }

  // What has a name, and whether that is a plain file of ours, or nothing that could have it.
  struct Found {
    const SimNode* node = nullptr;
    bool is_fine = false;
  };
  [[nodiscard]] Found find(const std::string& name) const {
    const SimMark mark = SimMark::of(name);
    const SimNode* const node = node_->entries.find(name, mark).get();
    return {node, node != nullptr ? is_plain(*node) : is_name(name, mark)};
  }
  // Says why it is not. Like sim_over() apart from what is asked all the time.
  template <class T>
  [[gnu::cold]] [[gnu::noinline]] Result<T> refused(const SimNode* node,
                                                    const std::string& name) const {
    return fail(node != nullptr ? file_trouble(*node, at(name)) : name_trouble(name));
  }
  template <class T>
  [[gnu::cold]] [[gnu::noinline]] static Result<T> over() {
    return sim_over();
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
  Result<std::unique_ptr<Folder>> open_folder(const SimNodePtr& node, const std::string& name);

  SimHandlePtr handle_;
  SimNodePtr node_;
  std::shared_ptr<const std::string> path_;
};

Result<std::unique_ptr<File>> SimFolder::open(const std::string& name, Open how) {
  if (!handle_->call_disk()) return sim_over();
  const auto [node, is_fine] = find(name);
  if (!is_fine) return refused<std::unique_ptr<File>>(node, name);
  if (how == Open::exclusive && node != nullptr) {
    return fail("cannot make " + at(name) + ": File exists");
  }
  if (node == nullptr) {
    if (how == Open::read) return fail("cannot open " + at(name) + ": " + kMissing);
    if (auto may = may_make(name); !may) return fail(may.error().text);
    disk().make(node_, name, SimKind::file);
  }
  return std::make_unique<SimFile>(handle_, node_->entries.find(name), path_, how);
}

Result<std::optional<std::string>> SimFolder::read(const std::string& name, std::size_t most) {
  if (!handle_->call_disk()) return over<std::optional<std::string>>();
  const auto [node, is_fine] = find(name);
  if (!is_fine) return refused<std::optional<std::string>>(node, name);
  if (node == nullptr) return std::nullopt;
  if (node->bytes.size() > most) {
    return fail(fmt::format("{} is larger than {} bytes", at(name), most));
  }
  return node->bytes;
}

Result<void> SimFolder::write_aside(const std::string& aside, std::string_view bytes, Sync sync,
                                    std::optional<WallTime> modified) {
  const SimNodePtr node = node_->entries.find(aside);
  const auto write = [&](std::string_view part) { std::ignore = disk().grow(*node, part); };
  if (!handle_->call_to_write(bytes, write)) return sim_over();
  if (auto written = disk().grow(*node, bytes); !written) return written;
  if (modified) node->modified = *modified;
  if (sync == Sync::yes) {
    if (!handle_->call_sync()) return sim_over();
    disk().sync_bytes(*node);
  }
  return {};
}

Result<void> SimFolder::replace(const std::string& name, std::string_view bytes, Sync sync,
                                std::optional<WallTime> modified) {
  if (auto begun = begin(name); !begun) return begun;
  const SimNode* old = node_->entries.find(name).get();
  if (old != nullptr && old->kind == SimKind::folder) {
    return fail("cannot replace " + at(name) + ": Is a directory");
  }
  if (auto may = may_make(name); !may) return may;
  const std::string aside = fmt::format(".{}.{:016x}{}", name, handle_->kernel->random(), kAside);
  disk().make(node_, aside, SimKind::file);
  if (auto written = write_aside(aside, bytes, sync, modified); !written) {
    if (!handle_->dead) disk().unlink(*node_, aside);
    return fail("cannot write " + at(name) + ": " + written.error().text);
  }
  if (!handle_->call_disk()) return sim_over();
  if (is_swept(aside)) return fail("cannot replace " + at(name) + ": " + kMissing);
  disk().move(*node_, aside, name);
  if (sync == Sync::yes) {
    if (!handle_->call_sync()) return sim_over();
    disk().sync_names(*node_);
  }
  return {};
}

Result<bool> SimFolder::make_file(const std::string& name, std::string_view bytes, Sync sync) {
  if (auto begun = begin(name); !begun) return std::unexpected(begun.error());
  if (auto may = may_make(name); !may) return std::unexpected(may.error());
  const std::string aside = fmt::format(".{}.{:016x}{}", name, handle_->kernel->random(), kAside);
  disk().make(node_, aside, SimKind::file);
  if (auto written = write_aside(aside, bytes, sync, std::nullopt); !written) {
    if (!handle_->dead) disk().unlink(*node_, aside);
    return fail("cannot write " + at(name) + ": " + written.error().text);
  }
  if (!handle_->call_disk()) return sim_over();
  if (node_->entries.find(name) != nullptr) {
    disk().unlink(*node_, aside);
    return false;
  }
  if (is_swept(aside)) return fail("cannot make " + at(name) + ": " + kMissing);
  disk().move(*node_, aside, name);
  if (sync == Sync::yes) {
    if (!handle_->call_sync()) return sim_over();
    disk().sync_names(*node_);
  }
  return true;
}

void SimFolder::sweep(Duration ago) {
  if (!handle_->call_disk()) return;
  const WallTime latest = handle_->kernel->queue.wall() - ago;
  std::vector<std::string> abandoned;
  for (const auto& [name, node] : node_->entries) {
    if (name.starts_with('.') && name.ends_with(kAside) && node->written <= latest) {
      abandoned.push_back(name);
    }
  }
  for (const std::string& name : abandoned) disk().unlink(*node_, name);
}

Result<void> SimFolder::rename(const std::string& from, const std::string& to) {
  if (auto begun = begin(from); !begun) return begun;
  if (!is_name(to)) return fail(name_trouble(to));
  if (!node_->entries.contains(from)) {
    return fail("cannot rename " + at(from) + ": " + kMissing);
  }
  if (!disk().broken.empty()) return fail("cannot rename " + at(from) + ": " + disk().broken);
  disk().move(*node_, from, to);
  return {};
}

Result<std::optional<FileFacts>> SimFolder::facts(const std::string& name) {
  if (!handle_->call_disk()) return over<std::optional<FileFacts>>();
  const auto [node, is_fine] = find(name);
  if (!is_fine) return refused<std::optional<FileFacts>>(node, name);
  if (node == nullptr) return std::nullopt;
  return sim_facts_of(*node);
}

Result<void> SimFolder::remove(const std::string& name) {
  if (auto begun = begin(name); !begun) return begun;
  const SimNode* found = node_->entries.find(name).get();
  if (found == nullptr) return {};
  if (found->kind == SimKind::folder) {
    return fail("cannot remove " + at(name) + ": Is a directory");
  }
  if (!disk().broken.empty()) return fail("cannot remove " + at(name) + ": " + disk().broken);
  disk().unlink(*node_, name);
  return {};
}

Result<std::unique_ptr<Folder>> SimFolder::open_folder(const SimNodePtr& node,
                                                       const std::string& name) {
  if (!is_folder(*node, true)) return fail(folder_trouble(*node, at(name), true));
  if (node->opened_as == nullptr || !is_at(*node->opened_as, name)) {
    node->opened_as = std::make_shared<const std::string>(at(name));
  }
  return std::make_unique<SimFolder>(handle_, node, node->opened_as);
}

Result<std::unique_ptr<Folder>> SimFolder::folder(const std::string& name) {
  if (!handle_->call_disk()) return sim_over();
  const SimNodePtr& node = node_->entries.find(name);
  if (node != nullptr) return open_folder(node, name);
  if (!is_name(name)) return fail(name_trouble(name));
  return nullptr;
}

Result<std::unique_ptr<Folder>> SimFolder::make_folder(const std::string& name) {
  if (auto begun = begin(name); !begun) return fail(begun.error().text);
  if (const SimNodePtr& node = node_->entries.find(name)) return open_folder(node, name);
  if (auto may = may_make(name); !may) return fail(may.error().text);
  return open_folder(disk().make(node_, name, SimKind::folder), name);
}

Result<std::unique_ptr<Folder>> SimFolder::make_new_folder(const std::string& name) {
  if (auto begun = begin(name); !begun) return fail(begun.error().text);
  if (node_->entries.contains(name)) return nullptr;
  if (auto may = may_make(name); !may) return fail(may.error().text);
  return open_folder(disk().make(node_, name, SimKind::folder), name);
}

Result<std::vector<std::string>> SimFolder::names_of(SimKind kind, std::size_t most) {
  if (!handle_->call_disk()) return sim_over();
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
  if (!handle_->call_disk()) return sim_over();
  if (!path.starts_with('/')) return fail("'" + path + "' is not an absolute path");
  SimDisk& disk = handle_->kernel->disk;
  PathAhead ahead(path);
  SimNodePtr node = disk.root();
  for (int steps = 0; !ahead.empty(); ++steps) {
    if (steps == kMostParts) return fail(path + " has too many parts");
    const auto here = [&] { return node == disk.root() ? "" : SimDisk::path_of(*node); };
    if (!is_folder(*node, false)) return fail(folder_trouble(*node, here(), false));
    const std::string_view part = ahead.take();
    if (part == "..") {
      if (node != disk.root()) node = node->above.lock();
      continue;
    }
    if (!node->entries.contains(part)) {
      const std::string missed = fmt::format("{}/{}", here(), part);
      if (missing == Missing::fail) return fail("cannot open " + missed + ": " + kMissing);
      if (!disk.broken.empty()) return fail("cannot make " + missed + ": " + disk.broken);
      disk.make(node, part, SimKind::folder);
    }
    const SimNodePtr next = node->entries.find(part);
    const bool follow = next->kind == SimKind::link && !ahead.empty();
    if (!follow) {
      node = next;
      continue;
    }
    if (next->owner == SimOwner::other)
      return fail(fmt::format("{}/{} is a link of another user", here(), part));
    ahead.go_by(next->bytes);
    if (next->bytes.starts_with('/')) node = disk.root();
  }
  std::string real = SimDisk::path_of(*node);
  if (!is_folder(*node, true)) return fail(folder_trouble(*node, real, true));
  return std::make_unique<SimFolder>(handle_, node, std::move(real));
}

Result<std::unique_ptr<Folder>> SimFolders::open(const std::string& path) {
  return walk(path, Missing::fail);
}

Result<std::unique_ptr<Folder>> SimFolders::make(const std::string& path) {
  return walk(path, Missing::make);
}

Result<std::string> SimFolders::working_folder() {
  if (!handle_->call()) return sim_over();
  return handle_->row->facts.working_folder;
}

Result<std::string> SimFolders::real_path(const std::string& path) {
  if (!handle_->call_disk()) return sim_over();
  if (path.empty()) return fail("cannot find : Invalid argument");
  SimDisk& disk = handle_->kernel->disk;
  const std::string whole =
      path.starts_with('/') ? path : handle_->row->facts.working_folder + "/" + path;
  PathAhead ahead(whole);
  SimNodePtr node = disk.root();
  for (int steps = 0; !ahead.empty(); ++steps) {
    if (steps == kMostParts) return fail("cannot find " + path + ": Too many levels of links");
    const std::string_view part = ahead.take();
    const SimNodePtr found = node->entries.find(part);
    if (part == "..") {
      if (node != disk.root()) node = node->above.lock();
    } else if (found == nullptr) {
      return fail("cannot find " + path + ": " + kMissing);
    } else if (found->kind != SimKind::link) {
      node = found;
    } else {
      ahead.go_by(found->bytes);
      if (found->bytes.starts_with('/')) node = disk.root();
    }
  }
  return SimDisk::path_of(*node);
}

std::optional<WallTime> SimFolders::newest_below(const std::string& path, std::string_view part,
                                                 std::size_t depth) {
  std::optional<WallTime> newest;
  const SimNode* const top =
      handle_->call_disk() ? handle_->kernel->disk.find(path).get() : nullptr;
  if (top == nullptr) return std::nullopt;
  if (top->kind == SimKind::file) return top->modified;
  const auto look = [&](const auto& again, const SimNode& node, std::string_view name,
                        std::size_t left) -> void {
    const bool is_newer = !newest || node.modified > *newest;
    if (node.kind == SimKind::file && is_newer && name.contains(part)) newest = node.modified;
    if (node.kind != SimKind::folder || left == 0) return;
    for (const auto& [entry, below] : node.entries) again(again, *below, entry, left - 1);
  };
  look(look, *top, "", depth + 1);
  return newest;
}

}  // namespace tend
