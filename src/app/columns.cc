// See columns.h.
#include "app/columns.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace tend {
namespace {

constexpr std::size_t kGap = 2;
constexpr std::size_t kShortestLast = 16;  // of the last column, however narrow the screen

}  // namespace

Columns::Columns(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (const Column& column : columns_) widths_.push_back(column.title.size());
}

void Columns::add(std::vector<Cell> cells) {
  CHECK(cells.size() == columns_.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    widths_[i] = std::max(widths_[i], width_of(cells[i].text));
  }
  rows_.push_back(std::move(cells));
}

std::string Columns::line(const std::vector<Cell>& cells, const Look& look,
                          std::size_t width) const {
  std::string text;
  std::size_t taken = 0;
  for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
    const std::string cell = columns_[i].is_number ? right_aligned(cells[i].text, widths_[i])
                                                   : left_aligned(cells[i].text, widths_[i]);
    text += look.in(cells[i].ink, cell) + std::string(kGap, ' ');
    taken += widths_[i] + kGap;
  }
  const Cell& last = cells.back();
  const std::size_t room = std::max(kShortestLast, width - std::min(width, taken));
  text += look.in(last.ink, width == 0 ? last.text : look.cut(last.text, room));
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string Columns::text(const Look& look, std::size_t width) const {
  std::vector<Cell> titles;
  titles.reserve(columns_.size());
  for (const Column& column : columns_) titles.push_back({std::string(column.title), Ink::faint});
  std::string text = line(titles, look, width);
  for (const std::vector<Cell>& row : rows_) text += line(row, look, width);
  return text;
}

std::size_t screen_width(const Output& out) {
  return out.is_terminal() ? static_cast<std::size_t>(std::max(out.columns(), 0)) : 0;
}

}  // namespace tend
