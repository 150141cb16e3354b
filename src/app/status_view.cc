// Widths are those of the widest cell; what does not fit is cut off the last column.
#include "app/status_view.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "app/agent_look.h"
#include "app/task_view.h"
#include "app/when.h"
#include "base/quote.h"

namespace tend {
namespace {

constexpr std::size_t kColumns = 7;
constexpr std::array<std::string_view, kColumns> kTitles{"NAME",     "STATE", "SINCE", "BEAT",
                                                         "RESTARTS", "LIFE",  "WHY"};
constexpr std::size_t kIndent = 2;
constexpr std::size_t kLongestName = 40;
constexpr std::size_t kShortestWhy = 16;

struct Row {
  const Entry* entry = nullptr;
  std::array<std::string, kColumns> cells;
};

/// How many of its ancestors stand in the same group.
std::size_t indent_of(const Entry& entry, std::span<const Entry> all) {
  std::size_t depth = 0;
  for (auto parent = entry.parent; parent; parent = all[*parent].parent) {
    if (all[*parent].group == entry.group) ++depth;
  }
  return depth;
}

Row row_of(const Entry& entry, std::span<const Entry> all, const Look& look, WallTime now) {
  const Heartbeat& says = entry.known.heartbeat;
  return {&entry,
          {std::string(2 * indent_of(entry, all), ' ') +
               look.cut(on_one_line(shown_name(entry)), kLongestName),
           state_words(entry), age_label(entry.since, now),
           entry.over() ? "-" : age_label(entry.known.last_beat, now), budget_label(entry),
           says.life > 0 ? std::to_string(says.life) : "-", on_one_line(entry.why)}};
}

class Table {
 public:
  Table(const Look& look, std::size_t columns) : look_(look), columns_(columns) {
    for (std::size_t i = 0; i < kColumns; ++i) widths_[i] = kTitles[i].size();
  }

  void measure(const Row& row) {
    for (std::size_t i = 0; i + 1 < kColumns; ++i) {
      widths_[i] = std::max(widths_[i], width_of(row.cells[i]));
    }
  }

  [[nodiscard]] std::string titles() const {
    std::string line(kIndent + 2, ' ');
    for (std::size_t i = 0; i + 1 < kColumns; ++i) line += cell(kTitles[i], i) + "  ";
    return look_.in(Ink::faint, line + std::string(kTitles.back())) + "\n";
  }

  [[nodiscard]] std::string line(const Row& row, WallTime now) const {
    const Ink ink = ink_of_entry(*row.entry);
    std::string text(kIndent, ' ');
    text += look_.in(ink, sign_of(*row.entry, look_)) + " ";
    for (std::size_t i = 0; i + 1 < kColumns; ++i) {
      const std::string shown = cell(row.cells[i], i);
      text += (i == 1 ? look_.in(ink, shown) : shown) + "  ";
    }
    text += columns_ == 0 ? row.cells.back() : look_.cut(row.cells.back(), room());
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
    if (row.entry->task) text += task_line(*row.entry->task, now);
    if (!row.entry->to_do.empty()) {
      text += below(fmt::format("{} {}", look_.arrow(), row.entry->to_do));
    }
    return text;
  }

 private:
  [[nodiscard]] std::string cell(std::string_view text, std::size_t column) const {
    const bool is_number = column >= 2 && column <= 5;
    return is_number ? right_aligned(text, widths_[column]) : left_aligned(text, widths_[column]);
  }

  [[nodiscard]] std::string below(std::string_view words) const {
    return std::string(kIndent + 2, ' ') + look_.in(Ink::faint, words) + "\n";
  }

  [[nodiscard]] std::string task_line(const Task& task, WallTime now) const {
    const std::string words = "task " + task_of_agent(task, now);
    if (columns_ == 0) return below(words);
    return below(look_.cut(words, std::max(columns_, kIndent + 2 + kShortestWhy) - kIndent - 2));
  }

  /// What is left for the last column; a little, however narrow the screen.
  [[nodiscard]] std::size_t room() const {
    std::size_t taken = kIndent + 2;
    for (std::size_t i = 0; i + 1 < kColumns; ++i) taken += widths_[i] + 2;
    return taken + kShortestWhy > columns_ ? kShortestWhy : columns_ - taken;
  }

  const Look& look_;
  std::size_t columns_;
  std::array<std::size_t, kColumns> widths_{};
};

std::string count_line(const Counts& counts, const Look& look) {
  const std::string trouble =
      fmt::format("{} {} you", counts.needs_you, counts.needs_you == 1 ? "needs" : "need");
  std::string line = fmt::format("{} {}: {}, {} working, {} waiting, {} done", counts.shown(),
                                 counts.shown() == 1 ? "agent" : "agents",
                                 counts.needs_you > 0 ? look.in(Ink::red, trouble) : trouble,
                                 counts.working, counts.waiting, counts.done);
  if (counts.hidden > 0) {
    line += look.in(Ink::faint, fmt::format(" ({} over for more than a day: --all shows {})",
                                            counts.hidden, counts.hidden == 1 ? "it" : "them"));
  }
  return line + "\n";
}

}  // namespace

std::string status_table(std::span<const Entry* const> shown, std::span<const Entry> all,
                         const Counts& counts, const Look& look, std::size_t columns,
                         WallTime now) {
  std::vector<Row> rows;
  Table table(look, columns);
  for (const Entry* entry : shown) {
    rows.push_back(row_of(*entry, all, look, now));
    table.measure(rows.back());
  }
  std::string text = count_line(counts, look);
  if (!rows.empty()) text += "\n" + table.titles();
  constexpr std::array<std::string_view, 4> kGroupTitles{"needs you", "working", "waiting", "done"};
  for (const Group group : {Group::needs_you, Group::working, Group::waiting, Group::done}) {
    const auto in_group = [&](const Row& row) { return row.entry->group == group; };
    if (std::ranges::none_of(rows, in_group)) continue;
    text += look.in(Ink::bold, kGroupTitles[static_cast<std::size_t>(group)]) + "\n";
    for (const Row& row : rows) {
      if (in_group(row)) text += table.line(row, now);
    }
  }
  return text;
}

}  // namespace tend
