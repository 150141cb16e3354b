// A file or folder of the simulated disk: what programs see of it, and what a power cut would
// leave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
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

/// The size of a name, its first bytes and its last: of a short one that is all of it. Cheaper to
/// compare than names are, as most that are looked for are not there, or have a common end.
struct SimMark {
  static constexpr std::size_t kShort = 16;  // bytes of a name that its mark holds whole

  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::size_t size = 0;
  bool operator==(const SimMark&) const = default;

  static SimMark of(std::string_view name);
  /// REQUIRES a short name, and a sign that is not 0.
  [[nodiscard]] bool has(char sign) const { return has_in(first, sign) || has_in(last, sign); }

 private:
  // Its bytes from `at` on, as a number. REQUIRES that there are enough of them.
  template <class Number>
  static std::uint64_t number_at(std::string_view text, std::size_t at) {
    Number number = 0;
    std::memcpy(&number, text.data() + at, sizeof(number));
    return number;
  }
  static bool has_in(std::uint64_t bytes, char sign) {
    constexpr std::uint64_t kOnes = 0x0101010101010101U;
    bytes ^= kOnes * static_cast<unsigned char>(sign);
    return ((bytes - kOnes) & ~bytes & (kOnes * 0x80U)) != 0;  // one of them is zero
  }
};

inline SimMark SimMark::of(std::string_view name) {
  const std::size_t size = name.size();
  if (size >= 8) {
    return {number_at<std::uint64_t>(name, 0), number_at<std::uint64_t>(name, size - 8), size};
  }
  if (size >= 4) {
    return {number_at<std::uint32_t>(name, 0), number_at<std::uint32_t>(name, size - 4), size};
  }
  SimMark mark{0, 0, size};
  for (const char c : name) mark.first = mark.first << 8U | static_cast<unsigned char>(c);
  return mark;
}

/// Names and what they name, sorted. Looking for one allocates nothing.
class SimEntries {
 public:
  struct Entry {
    std::string name;
    SimNodePtr node;
  };

  /// What has that name, until the entries change; nullptr if nothing has.
  [[nodiscard]] const SimNodePtr& find(std::string_view name) const {
    return find(name, SimMark::of(name));
  }
  /// The same for who knows the name's mark already.
  [[nodiscard]] const SimNodePtr& find(std::string_view name, const SimMark& mark) const;
  [[nodiscard]] bool contains(std::string_view name) const;
  void put(std::string_view name, SimNodePtr node);
  void erase(std::string_view name);
  void clear();
  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] auto begin() const { return all_.begin(); }
  [[nodiscard]] auto end() const { return all_.end(); }

 private:
  static constexpr std::size_t kBits = 10;
  // Not of the last bytes of a short name: of one that was just put together they take a while to
  // be read back. Long ones often begin alike.
  static std::size_t bits_of(const SimMark& mark) {
    const std::uint64_t end = mark.size > SimMark::kShort ? mark.last : 0;
    return (mark.first + end + mark.size) * 0x9e3779b97f4a7c15U >> (64U - kBits);
  }
  static const SimNodePtr kNothing;

  /// Where another name has the likely place, or there are none.
  [[nodiscard]] const SimNodePtr& search(std::string_view name, const SimMark& mark) const;
  [[nodiscard]] std::size_t place_of(std::string_view name) const;
  void note_places();

  std::vector<Entry> all_;
  std::vector<SimMark> marks_;  // of the names, in the same order
  /// By a few bits of its mark, the place behind a name that has these; 0: none has. Empty if
  /// there are too many.
  std::vector<std::uint8_t> places_;
};

inline const SimNodePtr& SimEntries::find(std::string_view name, const SimMark& mark) const {
  if (places_.empty()) return search(name, mark);
  const std::size_t likely = places_[bits_of(mark)];
  if (likely == 0) return kNothing;
  const Entry& entry = all_[likely - 1];
  const bool is_there =
      marks_[likely - 1] == mark && (mark.size <= SimMark::kShort || entry.name == name);
  return is_there ? entry.node : search(name, mark);
}

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
