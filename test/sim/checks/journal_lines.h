// The lines of a journal, for checks that read them.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "behind.h"
#include "seeded_world.h"
#include "store/journal.h"

namespace tend::sim {

inline std::string journal_of(const SeededWorld& world, const std::string& agent) {
  return world.folder_of(agent) + "/" + std::string(kJournalFile);
}

/// Those that were torn too.
template <class Visit>
void each_line(const std::optional<std::string>& text, const Visit& visit) {
  for (std::string_view rest = text ? std::string_view(*text) : ""; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    visit(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

/// A text as it is written, behind its key. No text has such a key in it: its quotes are escaped.
inline std::string_view text_behind(std::string_view line, std::string_view key) {
  line = behind(line, key);
  std::size_t end = line.find('"');
  while (end != line.npos && end > 0 && line[end - 1] == '\\') end = line.find('"', end + 1);
  return line.substr(0, end);
}

}  // namespace tend::sim
