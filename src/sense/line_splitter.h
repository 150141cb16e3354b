// Splits bytes into lines within one buffer. A line longer than the bound is passed over, so any
// input is read in constant memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "os/world.h"

namespace tend {

class LineSplitter {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{16} * 1024 * 1024;
  /// Bytes behind every line that may be read. The first of them is a newline or zero.
  static constexpr std::size_t kPadding = 64;

  enum class Got : std::uint8_t { line, too_long, end, failed };

  explicit LineSplitter(ByteSource& bytes);

  /// Goes to the next line. Its text is without the newline and valid until the next call; a byte
  /// order mark before the first line is no part of it.
  Got next();
  [[nodiscard]] std::string_view text() const { return text_; }
  /// The number of the line, the first being 1.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// What went wrong, after Got::failed.
  [[nodiscard]] const Error& error() const { return error_; }

 private:
  Got take(std::size_t size, std::size_t newline);
  bool read_more();
  void make_room();

  ByteSource& bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;    // of what was not given out yet
  std::size_t scanned_ = 0;  // no newline before this
  std::size_t end_ = 0;      // of what was read
  bool at_end_ = false;
  bool failed_ = false;
  bool skipping_ = false;  // inside a line that is too long
  std::uint64_t number_ = 0;
  std::string_view text_;
  Error error_;
};

}  // namespace tend
