// The longest common subsequence of what is left between a common beginning and a common end.
#include "app/hooks_diff.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "base/quote.h"

namespace tend {
namespace {

using Lines = std::vector<std::string_view>;

constexpr std::size_t kAround = 3;                         // lines shown before and after a change
constexpr std::size_t kMostPairs = std::size_t{1} << 24U;  // more than this is shown as replaced

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

struct Edit {
  char what;  // ' ', '-' or '+'
  std::string_view line;
  std::size_t before;  // the number of the line in each, from 1
  std::size_t after;
};

/// As it is, tabs too, but nothing else that moves the cursor.
std::string shown_line(std::string_view line) {
  std::string shown;
  while (true) {
    const std::size_t tab = line.find('\t');
    shown += on_one_line(line.substr(0, tab));
    if (tab == line.npos) return shown;
    shown += '\t';
    line.remove_prefix(tab + 1);
  }
}

/// The edits between two texts, equal lines among them.
class Edits {
 public:
  Edits(const Lines& before, const Lines& after) : before_(before), after_(after) {
    const std::size_t shorter = std::min(before.size(), after.size());
    std::size_t head = 0;
    while (head < shorter && before[head] == after[head]) ++head;
    std::size_t tail = 0;
    while (tail < shorter - head &&
           before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) {
      ++tail;
    }
    keep(head);
    change(before.size() - tail, after.size() - tail);
    keep(tail);
  }
  std::vector<Edit> list;

 private:
  void add(char what) {
    const bool of_before = what != '+';
    list.push_back({what, of_before ? before_[b_] : after_[a_], b_ + 1, a_ + 1});
    if (what != '+') ++b_;
    if (what != '-') ++a_;
  }
  void keep(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) add(' ');
  }
  void change(std::size_t b_end, std::size_t a_end) {
    const std::size_t rows = b_end - b_;
    const std::size_t columns = a_end - a_ + 1;
    const std::size_t b0 = b_;
    const std::size_t a0 = a_;
    const bool fits = (rows + 1) * columns <= kMostPairs;
    // common[i * columns + j]: of what is behind line i of the one and line j of the other.
    std::vector<std::uint32_t> common(fits ? (rows + 1) * columns : 0);
    for (std::size_t i = rows; fits && i-- > 0;) {
      for (std::size_t j = columns - 1; j-- > 0;) {
        const std::size_t at = i * columns + j;
        common[at] = before_[b0 + i] == after_[a0 + j]
                         ? common[at + columns + 1] + 1
                         : std::max(common[at + columns], common[at + 1]);
      }
    }
    while (fits && b_ < b_end && a_ < a_end) {
      const std::size_t at = (b_ - b0) * columns + (a_ - a0);
      const bool equal = before_[b_] == after_[a_];
      add(equal ? ' ' : common[at + columns] >= common[at + 1] ? '-' : '+');
    }
    while (b_ < b_end) add('-');
    while (a_ < a_end) add('+');
  }

  const Lines& before_;
  const Lines& after_;
  std::size_t b_ = 0;
  std::size_t a_ = 0;
};

}  // namespace

std::string show_difference(std::string_view name, std::string_view before,
                            std::string_view after) {
  if (before == after) return "";
  const Lines old_lines = lines_of(before);
  const Lines new_lines = lines_of(after);
  const Edits edits(old_lines, new_lines);
  std::string shown = fmt::format("--- {0}\n+++ {0}\n", on_one_line(name));
  std::size_t shown_to = 0;  // behind the last line that was shown
  for (std::size_t i = 0; i < edits.list.size(); ++i) {
    if (edits.list[i].what == ' ') continue;
    const std::size_t from = std::max(shown_to, i - std::min(i, kAround));
    if (from > shown_to || shown_to == 0) {
      shown += fmt::format("@@ -{} +{} @@\n", edits.list[from].before, edits.list[from].after);
    }
    std::size_t to = i + 1;
    while (to < edits.list.size() && edits.list[to].what != ' ') ++to;
    const std::size_t last = std::min(to + kAround, edits.list.size());
    std::size_t until = to;
    while (until < last && edits.list[until].what == ' ') ++until;
    for (std::size_t line = from; line < until; ++line) {
      shown += fmt::format("{}{}\n", edits.list[line].what, shown_line(edits.list[line].line));
    }
    shown_to = until;
    i = until - 1;
  }
  return shown;
}

}  // namespace tend
