// The name an agent gives its conversation. It comes from a stream and goes on a command line, so
// that it must not be able to pass for an option, a path or two words.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tend {

inline constexpr std::size_t kLongestSession = 128;

inline bool is_session_id(std::string_view text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && text.size() <= kLongestSession && is_plain(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return is_plain(c) || c == '-' || c == '_'; });
}

}  // namespace tend
