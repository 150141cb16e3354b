// Lists that cannot grow without end: past its bound a list forgets its oldest item.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace tend {

/// Adds `item`; the oldest one gives way if there would be more than `most`.
template <class T>
void push_bounded(std::vector<T>& items, std::size_t most, T item) {
  if (items.size() >= most) items.erase(items.begin());
  items.push_back(std::move(item));
}

/// Takes the first item that matches out; false if there is none.
template <class T, class Matches>
bool erase_first(std::vector<T>& items, Matches matches) {
  const auto found = std::find_if(items.begin(), items.end(), matches);
  if (found == items.end()) return false;
  items.erase(found);
  return true;
}

}  // namespace tend
