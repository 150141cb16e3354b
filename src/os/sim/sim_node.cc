// A sorted vector holds the names: folders are small and looked into all the time.
#include "os/sim/sim_node.h"

#include <algorithm>
#include <cstring>

namespace tend {
namespace {

constexpr std::size_t kFew = 48;  // names whose marks are compared faster than they are searched
constexpr std::size_t kBits = 8;
constexpr std::size_t kShort = 16;  // bytes of a name that its mark holds whole

constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;

const SimNodePtr kNothing;

// Its bytes from `at` on, as a number. REQUIRES that there are enough of them.
template <class Number>
std::uint64_t number_at(std::string_view text, std::size_t at) {
  Number number = 0;
  std::memcpy(&number, &text[at], sizeof(number));
  return number;
}

}  // namespace

// Cheaper to compare than names are, as most that are looked for are not there, or have a common
// end.
inline SimEntries::Mark SimEntries::mark_of(std::string_view name) {
  const std::size_t size = name.size();
  if (size >= 8) {
    return {number_at<std::uint64_t>(name, 0), number_at<std::uint64_t>(name, size - 8), size};
  }
  if (size >= 4) {
    return {number_at<std::uint32_t>(name, 0), number_at<std::uint32_t>(name, size - 4), size};
  }
  Mark mark{0, 0, size};
  for (const char c : name) mark.first = mark.first << 8U | static_cast<unsigned char>(c);
  return mark;
}

// Not of the last bytes: of a name that was just put together they take a while to be read back.
inline std::size_t SimEntries::bits_of(const Mark& mark) {
  return (mark.first + mark.size) * kOdd >> (64U - kBits);
}

std::size_t SimEntries::place_of(std::string_view name) const {
  const auto place = std::ranges::lower_bound(all_, name, {}, &Entry::name);
  return static_cast<std::size_t>(place - all_.begin());
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
  if (places_.empty()) {
    const std::size_t place = place_of(name);
    return place < all_.size() && all_[place].name == name ? all_[place].node : kNothing;
  }
  const Mark mark = mark_of(name);
  const auto is_at = [&](std::size_t place) {
    return marks_[place] == mark && (mark.size <= kShort || all_[place].name == name);
  };
  const std::size_t likely = places_[bits_of(mark)];
  if (likely == 0) return kNothing;
  if (is_at(likely - 1)) return all_[likely - 1].node;
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    if (is_at(i)) return all_[i].node;
  }
  return kNothing;
}

bool SimEntries::contains(std::string_view name) const {
  const std::size_t place = place_of(name);
  return place < all_.size() && all_[place].name == name;
}

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
