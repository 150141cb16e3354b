// A sorted vector holds the names: folders are small and looked into all the time.
#include "os/sim/sim_node.h"

#include <algorithm>

namespace tend {
namespace {

constexpr std::size_t kFew = 48;  // names whose marks are compared faster than they are searched

}  // namespace

const SimNodePtr SimEntries::kNothing;

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

const SimNodePtr& SimEntries::search(std::string_view name, const SimMark& mark) const {
  if (places_.empty()) {
    const std::size_t place = place_of(name);
    return place < all_.size() && all_[place].name == name ? all_[place].node : kNothing;
  }
  const auto is_at = [&](std::size_t place) {
    return marks_[place] == mark && (mark.size <= SimMark::kShort || all_[place].name == name);
  };
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
    marks_.insert(marks_.begin() + offset, SimMark::of(name));
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
