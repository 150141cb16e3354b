// A table for people: titles, and rows of cells as wide as the widest of their column. The last
// column takes what is left of the screen, and is cut there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/look.h"

namespace tend {

struct Cell {
  std::string text;  // on one line
  Ink ink = Ink::plain;
};

class Columns {
 public:
  struct Column {
    std::string_view title;
    bool is_number = false;  // stands at the right of its column
  };
  explicit Columns(std::vector<Column> columns);

  /// As many cells as there are columns.
  void add(std::vector<Cell> cells);
  /// `width` is that of the screen; 0: nothing is cut.
  [[nodiscard]] std::string text(const Look& look, std::size_t width) const;

 private:
  [[nodiscard]] std::string line(const std::vector<Cell>& cells, const Look& look,
                                 std::size_t width) const;

  std::vector<Column> columns_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<Cell>> rows_;
};

/// What Columns::text() wants: the screen's, or 0 if it is none.
std::size_t screen_width(const Output& out);

}  // namespace tend
