// The files of the simulated machine: folders, plain files, links, fifos and sockets in memory,
// with locks, times of change, holes, a power cut, and everything that a test wants to go wrong.
// Paths here are absolute and trusted: this is the test's side. Programs come through os/folder.h,
// where what is foreign, shared or a link is refused.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "os/sim/sim_node.h"

namespace tend {

class SimDisk {
 public:
  using Changed = std::function<void(SimNode& folder)>;
  using Chance = std::function<std::uint64_t()>;
  SimDisk(std::function<WallTime()> wall, Changed changed);

  // For tests: by path. Folders on the way are made. What write() and those that make something
  // leave is durable.
  void write(const std::string& path, std::string_view text);
  void append(const std::string& path, std::string_view text);
  [[nodiscard]] std::optional<std::string> read(const std::string& path) const;
  void remove(const std::string& path);  // a folder with all that is in it
  void make_folder(const std::string& path);
  void make_link(const std::string& path, const std::string& to);
  void make_foreign(const std::string& path);  // of another user
  void make_shared(const std::string& path);   // writable by others
  void make_unreadable(const std::string& path);
  void make_readable(const std::string& path);
  [[nodiscard]] bool exists(const std::string& path) const;
  [[nodiscard]] bool is_locked(const std::string& path) const;
  [[nodiscard]] std::optional<WallTime> modified(const std::string& path) const;
  void set_modified(const std::string& path, WallTime modified);
  /// The paths of all plain files below a folder, absolute, sorted.
  [[nodiscard]] std::vector<std::string> files(const std::string& folder = "/") const;

  /// Bytes that files may still grow by; then "No space left on device". nullopt: no bound.
  std::optional<std::uint64_t> room;
  /// If not empty, every write fails and the system says this: "Input/output error".
  std::string broken;
  /// False: punch() fails as on a file system that cannot.
  bool can_punch = true;
  /// A sync succeeds and makes nothing durable, as with a disk that forgets what is in its cache.
  bool syncs_lie = false;

  // For the machine: by node. The first failing part of a path is nullptr; links are not followed.
  [[nodiscard]] const SimNodePtr& find(std::string_view path) const;
  [[nodiscard]] const SimNodePtr& root() const { return root_; }
  /// How often names have changed: while it is the same, every name is that of the same file.
  [[nodiscard]] std::uint64_t names_changed() const { return names_changed_; }
  SimNodePtr make(const SimNodePtr& folder, std::string_view name, SimKind kind);
  SimNodePtr make_all(std::string_view path, SimKind kind);
  void unlink(SimNode& folder, std::string_view name);
  void move(SimNode& folder, std::string_view from, std::string_view to);
  /// Writes at the end; on a full disk as much as fits. The error is what the system says.
  Result<void> grow(SimNode& file, std::string_view text);
  Result<void> overwrite(SimNode& file, std::string_view text);
  void cut(SimNode& file, std::uint64_t size);
  void punch(SimNode& file, std::uint64_t end);
  void touch(SimNode& node);
  /// False if somebody else has the lock. `number` is that of the open file, `pid` its process.
  bool lock(const SimNodePtr& file, std::uint64_t number, std::int64_t pid);
  void unlock(SimNode& file, std::uint64_t number);
  void release_locks_of(std::int64_t pid);

  // What lasts: sim_power.cc.
  /// The bytes of a file, its name, and the folders that it is in, as today's file systems do it.
  void sync(SimNode& file);
  /// The bytes alone, whatever their name.
  void sync_bytes(SimNode& file);
  /// All names in a folder, and the folders that it is in.
  void sync_names(SimNode& folder);
  /// Everything that was not synced is as it was when it was; folders stay.
  void cut_power();
  /// Of everything that was not synced a part is left, as chance has it: of a file some of the new
  /// sectors, then a first part of what is new at its end, perhaps with zeros in place of the rest;
  /// of the changes of names in a folder, folders too, some of them, and of those that have to do
  /// with the same name the first ones.
  void tear(const Chance& chance);
  [[nodiscard]] static std::string path_of(const SimNode& node);

 private:
  [[nodiscard]] const SimNodePtr& walk(std::string_view path) const;
  void tell(SimNode& node);
  void give_back(std::uint64_t bytes);
  /// Notes a change of names, and makes it.
  void change(SimNode& folder, SimNameChange change);
  /// Before the bytes that a sync has left change.
  static void keep_synced(SimNode& file);
  void settle(SimNode& node);
  void settle_names_above(const SimNode& node);
  void account(std::uint64_t used_before);

  std::function<WallTime()> wall_;
  Changed changed_;
  std::uint64_t numbers_ = 1;
  SimNodePtr root_;
  std::vector<std::weak_ptr<SimNode>> locked_;
  /// What a path led to, for as long as no name changes: the same few are asked for all the time.
  struct Found {
    std::string path;
    const SimNodePtr* node = nullptr;
    std::uint64_t as_of = 0;
  };
  mutable std::vector<Found> found_ = std::vector<Found>(4096);
  std::uint64_t names_changed_ = 1;  // how often
};

}  // namespace tend
