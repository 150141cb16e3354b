// A sorted vector holds the names: folders are small and looked into all the time.
#include "os/sim/sim_node.h"

#include <algorithm>
#include <array>
#include <bit>

namespace tend {
namespace {

constexpr std::size_t kFew = 48;  // names whose marks are compared faster than they are searched

const SimNodePtr kNothing;

template <class Number>
std::uint64_t first_bytes(std::string_view text) {
  std::array<char, sizeof(Number)> bytes{};
  text.copy(bytes.data(), bytes.size());
  return std::bit_cast<Number>(bytes);
}

// Differs for nearly all different names: their size, first and last bytes. Cheaper than to
// compare them, as most names that are looked for are not there, or have a common end.
std::uint64_t mark_of(std::string_view name) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
  const std::size_t size = name.size();
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  if (size >= 8) {
    first = first_bytes<std::uint64_t>(name);
    last = first_bytes<std::uint64_t>(name.substr(size - 8));
  } else if (size >= 4) {
    first = first_bytes<std::uint32_t>(name);
    last = first_bytes<std::uint32_t>(name.substr(size - 4));
  } else {
    for (const char c : name) first = first << 8U | static_cast<unsigned char>(c);
  }
  return (first * kOdd) ^ (last + size);
}

}  // namespace

std::size_t SimEntries::place_of(std::string_view name) const {
  const auto place = std::ranges::lower_bound(all_, name, {}, &Entry::name);
  return static_cast<std::size_t>(place - all_.begin());
}

const SimEntries::Entry* SimEntries::look(std::string_view name) const {
  if (marks_.size() <= kFew) {
    const std::uint64_t mark = mark_of(name);
    for (std::size_t i = 0; i < marks_.size(); ++i) {
      if (marks_[i] == mark && all_[i].name == name) return &all_[i];
    }
    return nullptr;
  }
  const std::size_t place = place_of(name);
  return place < all_.size() && all_[place].name == name ? &all_[place] : nullptr;
}

const SimNodePtr& SimEntries::find(std::string_view name) const {
  const Entry* entry = look(name);
  return entry == nullptr ? kNothing : entry->node;
}

bool SimEntries::contains(std::string_view name) const { return look(name) != nullptr; }

void SimEntries::put(std::string_view name, SimNodePtr node) {
  const std::size_t place = place_of(name);
  if (place < all_.size() && all_[place].name == name) {
    all_[place].node = std::move(node);
  } else {
    const auto offset = static_cast<std::ptrdiff_t>(place);
    all_.insert(all_.begin() + offset, Entry{std::string(name), std::move(node)});
    marks_.insert(marks_.begin() + offset, mark_of(name));
  }
}

void SimEntries::erase(std::string_view name) {
  const std::size_t place = place_of(name);
  if (place == all_.size() || all_[place].name != name) return;
  all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(place));
  marks_.erase(marks_.begin() + static_cast<std::ptrdiff_t>(place));
}

void SimEntries::clear() {
  all_.clear();
  marks_.clear();
}

}  // namespace tend
