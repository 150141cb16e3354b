// Finding words in a text that is full of quotes, for whoever reads a file a thousand times.
#pragma once

#include <cstring>
#include <string_view>

namespace tend::sim {

/// What stands behind the first of these words; many times as fast as find() in such a text.
inline std::string_view behind(std::string_view text, std::string_view words) {
  const void* const found = memmem(text.data(), text.size(), words.data(), words.size());
  if (found == nullptr) return {};
  return {static_cast<const char*>(found) + words.size(), text.data() + text.size()};
}

}  // namespace tend::sim
