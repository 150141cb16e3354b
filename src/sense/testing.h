// What the tests of this folder share: lines with the padding that the parsers want.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sense/line_splitter.h"

namespace tend {

/// A line as LineSplitter gives it out: a newline behind it, then padding.
class PaddedLine {
 public:
  explicit PaddedLine(std::string_view text) : bytes_(text), size_(text.size()) {
    bytes_ += '\n';
    bytes_.append(LineSplitter::kPadding, '\0');
  }
  [[nodiscard]] std::string_view view() const { return {bytes_.data(), size_}; }

 private:
  std::string bytes_;
  std::size_t size_;
};

}  // namespace tend
