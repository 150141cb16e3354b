// Room for texts that must outlive the buffer they were read from. Clearing it keeps the memory, so
// a long trace allocates only for the first of its moments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace tend {

class TextArena {
 public:
  /// A place for `size` bytes. What is written there stays until clear().
  char* room(std::size_t size) {
    while (current_ < blocks_.size() && blocks_[current_].size - used_ < size) {
      ++current_;
      used_ = 0;
    }
    if (current_ == blocks_.size()) {
      const std::size_t block = std::max(size, kBlock);
      blocks_.push_back({std::make_unique_for_overwrite<char[]>(block), block});  // NOLINT
      used_ = 0;
    }
    return blocks_[current_].bytes.get() + used_;
  }

  /// Takes the first `size` bytes of the place that room() gave last.
  void keep(std::size_t size) {
    used_ += size;
    total_ += size;
  }

  std::string_view copy(std::string_view text) {
    char* const to = room(text.size());
    std::memcpy(to, text.data(), text.size());
    keep(text.size());
    return {to, text.size()};
  }

  /// Voids all texts. Blocks beyond the first are given back, so one huge moment is not for ever.
  void clear() {
    if (blocks_.size() > 1) blocks_.resize(1);
    current_ = used_ = total_ = 0;
  }

  /// Bytes of text kept.
  [[nodiscard]] std::size_t size() const { return total_; }

 private:
  static constexpr std::size_t kBlock = std::size_t{64} * 1024;

  struct Block {
    std::unique_ptr<char[]> bytes;  // NOLINT(modernize-avoid-c-arrays): a vector would fill it
    std::size_t size = 0;
  };

  std::vector<Block> blocks_;
  std::size_t current_ = 0;
  std::size_t used_ = 0;
  std::size_t total_ = 0;
};

}  // namespace tend
