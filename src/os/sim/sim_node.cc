// A sorted vector holds the names: folders are small and looked into all the time.
#include "os/sim/sim_node.h"

#include <algorithm>
#include <cstring>

namespace tend {
namespace {

constexpr std::size_t kFew = 48;  // names whose marks are compared faster than they are searched
constexpr std::size_t kBits = 8;

constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;

const SimNodePtr kNothing;

template <class Number>
std::uint64_t number_at(const char* bytes) {
  Number number = 0;
  std::memcpy(&number, bytes, sizeof(number));
  return number;
}

// Differs for nearly all different names: their size, first and last bytes. Cheaper than to
// compare them, as most names that are looked for are not there, or have a common end.
inline std::uint64_t mark_of(std::string_view name) {
  const std::size_t size = name.size();
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  if (size >= 8) {
    first = number_at<std::uint64_t>(name.data());
    last = number_at<std::uint64_t>(name.data() + size - 8);
  } else if (size >= 4) {
    first = number_at<std::uint32_t>(name.data());
    last = number_at<std::uint32_t>(name.data() + size - 4);
  } else {
    for (const char c : name) first = first << 8U | static_cast<unsigned char>(c);
  }
  return (first * kOdd) ^ (last + size);
}

// Without a call for names that are short, as nearly all are.
inline bool is_same(std::string_view one, std::string_view other) {
  const std::size_t size = one.size();
  if (size != other.size()) return false;
  if (size < 8 || size > 16) return one == other;
  const auto same_at = [&](std::size_t at) {
    return number_at<std::uint64_t>(one.data() + at) == number_at<std::uint64_t>(other.data() + at);
  };
  return same_at(0) && same_at(size - 8);
}

inline std::size_t bits_of(std::uint64_t mark) { return mark * kOdd >> (64U - kBits); }

}  // namespace

std::size_t SimEntries::place_of(std::string_view name) const {
  const auto place = std::ranges::lower_bound(all_, name, {}, &Entry::name);
  return static_cast<std::size_t>(place - all_.begin());
}

const SimEntries::Entry* SimEntries::look(std::string_view name) const {
  if (all_.empty()) return nullptr;
  if (places_.empty()) {
    const std::size_t place = place_of(name);
    return place < all_.size() && all_[place].name == name ? &all_[place] : nullptr;
  }
  const std::uint64_t mark = mark_of(name);
  const std::size_t likely = places_[bits_of(mark)];
  if (likely == 0) return nullptr;
  if (marks_[likely - 1] == mark && is_same(all_[likely - 1].name, name)) return &all_[likely - 1];
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    if (marks_[i] == mark && is_same(all_[i].name, name)) return &all_[i];
  }
  return nullptr;
}

void SimEntries::note_places() {
  places_.clear();
  if (marks_.empty() || marks_.size() > kFew) return;
  places_.resize(std::size_t{1} << kBits);
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    places_[bits_of(marks_[i])] = static_cast<std::uint8_t>(i + 1);
  }
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
    note_places();
  }
}

void SimEntries::erase(std::string_view name) {
  const std::size_t place = place_of(name);
  if (place == all_.size() || all_[place].name != name) return;
  all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(place));
  marks_.erase(marks_.begin() + static_cast<std::ptrdiff_t>(place));
  note_places();
}

void SimEntries::clear() {
  all_.clear();
  marks_.clear();
  places_.clear();
}

}  // namespace tend
