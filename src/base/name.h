// A name without an allocation: the id of a tool call, a child, a task. Long names keep their
// first bytes for people to read and a hash of the whole for telling them apart.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace tend {

class Name {
 public:
  static constexpr std::size_t kShown = 47;

  constexpr Name() = default;
  explicit Name(std::string_view text) : hash_(hash_of(text)) {
    size_ = static_cast<std::uint8_t>(std::min(text.size(), kShown));
    std::copy_n(text.begin(), size_, text_.begin());
  }

  /// The text, cut after kShown bytes.
  [[nodiscard]] std::string_view shown() const { return {text_.data(), size_}; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

  bool operator==(const Name& other) const {
    return hash_ == other.hash_ && shown() == other.shown();
  }

  /// Puts a name together again from what a snapshot holds of it.
  static Name restored(std::string_view shown, std::uint64_t hash) {
    Name name(shown);
    name.hash_ = hash;
    return name;
  }

 private:
  static std::uint64_t hash_of(std::string_view text) {  // FNV-1a: short keys, no table
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    return hash;
  }

  std::uint64_t hash_ = 0xcbf29ce484222325U;
  std::array<char, kShown> text_{};
  std::uint8_t size_ = 0;
};

}  // namespace tend
