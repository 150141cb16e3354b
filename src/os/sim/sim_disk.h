// The files of the simulated machine: folders, plain files, links, fifos and sockets in memory,
// with locks, times of change, holes, a power cut, and everything that a test wants to go wrong.
// Paths here are absolute and trusted: this is the test's side. Programs come through os/folder.h,
// where what is foreign, shared or a link is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace tend {

struct SimListener;

enum class SimKind : std::uint8_t { folder, file, link, fifo, socket };
enum class SimOwner : std::uint8_t { us, root, other };

/// One file or folder; a name is an entry of the folder above it.
struct SimNode {
  SimKind kind = SimKind::file;
  SimOwner owner = SimOwner::us;
  bool shared = false;      // others may write it
  bool unreadable = false;  // even to us: open() fails with "Permission denied"
  std::uint64_t number = 0;
  WallTime modified{};
  std::string bytes;            // of a file or a fifo; where a link leads to
  std::uint64_t hole = 0;       // the first bytes, given back
  std::uint64_t lock = 0;       // of the open file that holds the lock; 0: nobody
  std::int64_t lock_owner = 0;  // its process
  std::weak_ptr<SimNode> above;
  std::map<std::string, std::shared_ptr<SimNode>> entries;
  std::vector<std::weak_ptr<SimListener>> watchers;

  // What a power cut leaves.
  std::string durable_bytes;
  std::uint64_t durable_hole = 0;
  std::map<std::string, std::shared_ptr<SimNode>> durable_entries;
};
using SimNodePtr = std::shared_ptr<SimNode>;

class SimDisk {
 public:
  using Changed = std::function<void(SimNode& folder)>;
  SimDisk(std::function<WallTime()> wall, Changed changed);

  // For tests: by path. Folders on the way are made.
  void write(const std::string& path, std::string_view text);
  void append(const std::string& path, std::string_view text);
  [[nodiscard]] std::optional<std::string> read(const std::string& path) const;
  void remove(const std::string& path);  // a folder with all that is in it
  void make_folder(const std::string& path);
  void make_link(const std::string& path, const std::string& to);
  void make_foreign(const std::string& path);  // of another user
  void make_shared(const std::string& path);   // writable by others
  void make_unreadable(const std::string& path);
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

  // For the machine: by node. The first failing part of a path is nullptr; links are not followed.
  [[nodiscard]] SimNodePtr find(const std::string& path) const;
  [[nodiscard]] const SimNodePtr& root() const { return root_; }
  SimNodePtr make(const SimNodePtr& folder, const std::string& name, SimKind kind);
  SimNodePtr make_all(const std::string& path, SimKind kind);
  void unlink(const SimNodePtr& folder, const std::string& name);
  void move(const SimNodePtr& folder, const std::string& from, const std::string& to);
  /// Writes at the end; on a full disk as much as fits. The error is what the system says.
  Result<void> grow(SimNode& file, std::string_view text);
  Result<void> overwrite(SimNode& file, std::string_view text);
  void cut(SimNode& file, std::uint64_t size);
  void punch(SimNode& file, std::uint64_t end);
  void sync(SimNode& node);
  void sync_entry(SimNode& folder, const std::string& name);
  void touch(SimNode& node);
  void release_locks_of(std::int64_t pid);
  /// Everything that was not synced is as it was when it was.
  void cut_power();
  [[nodiscard]] static std::string path_of(const SimNode& node);

 private:
  void tell(SimNode& node);
  void give_back(std::uint64_t bytes);

  std::function<WallTime()> wall_;
  Changed changed_;
  std::uint64_t numbers_ = 1;
  SimNodePtr root_;
};

}  // namespace tend
