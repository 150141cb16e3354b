// Finds a word in a fixed table with one multiplication and one comparison. The index is made by
// the compiler from the tables of the vocabulary, so no spelling is written down a second time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tend {

/// Up to 16 letters as two numbers. Longer words have no packed form.
struct PackedWord {
  static constexpr std::size_t kLongest = 16;

  static consteval PackedWord of(std::string_view word) {
    PackedWord packed;
    for (std::size_t i = 0; i < word.size(); ++i) {
      std::uint64_t& half = i < 8 ? packed.low : packed.high;
      half |= std::uint64_t{static_cast<unsigned char>(word[i])} << (i % 8 * 8);
    }
    return packed;
  }

  /// Requires 16 readable bytes at word.data(), and at most kLongest of them to be the word's.
  static PackedWord padded(std::string_view word) {
    static_assert(std::endian::native == std::endian::little);
    const auto mask = [](std::size_t bytes) {
      return bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (bytes * 8)) - 1;
    };
    PackedWord packed;
    std::memcpy(&packed.low, word.data(), 8);
    packed.low &= mask(word.size());
    if (word.size() > 8) {
      std::memcpy(&packed.high, word.data() + 8, 8);
      packed.high &= mask(word.size() - 8);
    }
    return packed;
  }

  bool operator==(const PackedWord&) const = default;

  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

template <class Enum, std::size_t N>
class WordIndex {
 public:
  explicit consteval WordIndex(const std::array<std::string_view, N>& words) {
    for (std::size_t i = 0; i < N; ++i) words_[i] = PackedWord::of(words[i]);
    while (!place_all()) multiplier_ = multiplier_ * 6364136223846793005U + 2;  // another odd one
  }

  /// Sets `found` and says yes if the table has the word. Requires 16 readable bytes at the word.
  bool find(std::string_view word, Enum& found) const {
    if (word.empty() || word.size() > PackedWord::kLongest) return false;
    const PackedWord packed = PackedWord::padded(word);
    const std::size_t at = slots_[slot(packed)];
    if (words_[at] != packed) return false;
    found = static_cast<Enum>(at);
    return true;
  }

 private:
  static constexpr std::size_t kSlots = std::bit_ceil(N * 4);
  static constexpr std::uint8_t kFree = 255;
  static_assert(N < kFree);

  [[nodiscard]] constexpr std::size_t slot(const PackedWord& word) const {
    const std::uint64_t mixed = (word.low ^ std::rotl(word.high, 29)) * multiplier_;
    return mixed >> (64U - static_cast<unsigned>(std::countr_zero(kSlots)));
  }

  consteval bool place_all() {
    slots_.fill(kFree);
    for (std::size_t i = 0; i < N; ++i) {
      std::uint8_t& at = slots_[slot(words_[i])];
      if (at != kFree) return false;
      at = static_cast<std::uint8_t>(i);
    }
    for (std::uint8_t& at : slots_) {
      if (at == kFree) at = 0;  // a word of another slot, which no word here can equal
    }
    return true;
  }

  std::array<PackedWord, N> words_{};
  std::array<std::uint8_t, kSlots> slots_{};
  std::uint64_t multiplier_ = 0x9E3779B97F4A7C15U;
};

template <class Enum, std::size_t N>
consteval WordIndex<Enum, N> index_of(const std::array<std::string_view, N>& words) {
  return WordIndex<Enum, N>(words);
}

}  // namespace tend
