// A file or folder of the simulated disk: what programs see of it, and what a power cut would
// leave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace tend {

struct SimListener;
struct SimNode;
using SimNodePtr = std::shared_ptr<SimNode>;

enum class SimKind : std::uint8_t { folder, file, link, fifo, socket };
enum class SimOwner : std::uint8_t { us, root, other };

/// Names and what they name, sorted. Looking for one allocates nothing.
class SimEntries {
 public:
  struct Entry {
    std::string name;
    SimNodePtr node;
  };

  /// What has that name, until the entries change; nullptr if nothing has.
  [[nodiscard]] const SimNodePtr& find(std::string_view name) const;
  [[nodiscard]] bool contains(std::string_view name) const;
  void put(std::string_view name, SimNodePtr node);
  void erase(std::string_view name);
  void clear();
  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] auto begin() const { return all_.begin(); }
  [[nodiscard]] auto end() const { return all_.end(); }

 private:
  /// The size of a name, its first bytes and its last: of a short one that is all of it.
  struct Mark {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::size_t size = 0;
    bool operator==(const Mark&) const = default;
  };
  static Mark mark_of(std::string_view name);
  static std::size_t bits_of(const Mark& mark);

  [[nodiscard]] std::size_t place_of(std::string_view name) const;
  void note_places();

  std::vector<Entry> all_;
  std::vector<Mark> marks_;  // of the names, in the same order
  /// By a few bits of its mark, the place behind a name that has these; 0: none has. Empty if
  /// there are too many.
  std::vector<std::uint8_t> places_;
};

/// One change of the names in a folder: made (from nothing), renamed, or removed (to nothing).
struct SimNameChange {
  std::string from;
  std::string to;
  SimNodePtr node;
  SimNodePtr replaced;   // what had the name `to`
  bool durable = false;  // a sync saw to it
};

/// A name is an entry of the folder above it.
struct SimNode {
  SimKind kind = SimKind::file;
  SimOwner owner = SimOwner::us;
  bool shared = false;      // others may write it
  bool unreadable = false;  // even to us: open() fails with "Permission denied"
  std::uint64_t number = 0;
  WallTime modified{};
  WallTime written{};           // the same, and nobody can set it
  std::string bytes;            // of a file or a fifo; where a link leads to
  std::uint64_t hole = 0;       // the first bytes, given back
  std::uint64_t lock = 0;       // of the open file that holds the lock; 0: nobody
  std::int64_t lock_owner = 0;  // its process
  std::string name;             // its last one
  std::weak_ptr<SimNode> above;
  std::shared_ptr<const std::string> opened_as;  // the path of a folder, when it was last opened
  SimEntries entries;
  std::vector<std::weak_ptr<SimListener>> watchers;

  // What the last sync left of the bytes: the first `synced` of them, or, once one of those has
  // changed, `synced_bytes`.
  std::uint64_t synced = 0;
  std::uint64_t synced_hole = 0;
  std::uint64_t shortest = 0;  // the least size since then
  std::optional<std::string> synced_bytes;

  // The same of the names: what those had that have changed since (nullptr: nothing), and the
  // newest changes in their order.
  SimEntries synced_names;
  std::vector<SimNameChange> changes;
};

}  // namespace tend
