// What a line says is its owner's business; here it only has an end.
#include "store/lines.h"

#include <algorithm>
#include <span>

namespace tend {
namespace {

bool is_torn(File& file) {
  const auto facts = file.facts();
  if (!facts || facts->size == 0) return false;
  char last = '\n';
  const auto got = file.read_at(facts->size - 1, {&last, 1});
  return got && *got == 1 && last != '\n';
}

/// As much of [from, from + most) as is there.
Result<std::string> read_part(File& file, std::uint64_t from, std::size_t most) {
  std::string text(most, '\0');
  std::size_t size = 0;
  while (size < most) {
    const auto got = file.read_at(from + size, std::span(text).subspan(size));
    if (!got) return std::unexpected(got.error());
    if (*got == 0) break;
    size += *got;
  }
  text.resize(size);
  return text;
}

}  // namespace

Result<void> append_line(Folder& folder, std::string_view name, std::string_view line,
                         Folder::Sync sync) {
  const auto file = folder.open(std::string(name), Folder::Open::append);
  if (!file) return std::unexpected(file.error());
  std::string bytes(is_torn(**file) ? "\n" : "");
  bytes.append(line).append("\n");
  if (auto appended = (*file)->append(bytes); !appended) return appended;
  return sync == Folder::Sync::yes ? (*file)->sync() : Result<void>{};
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

Result<std::string> last_lines(Folder& folder, std::string_view name, std::size_t most) {
  const auto there = folder.facts(std::string(name));
  if (!there) return std::unexpected(there.error());
  if (!*there) return std::string();
  const auto file = folder.open(std::string(name), Folder::Open::read);
  if (!file) return std::unexpected(file.error());
  const auto facts = (*file)->facts();
  if (!facts) return std::unexpected(facts.error());
  if (facts->size <= most) return read_part(**file, 0, static_cast<std::size_t>(facts->size));
  // One byte more: if it ends a line, the first one that follows is whole.
  auto text = read_part(**file, facts->size - most - 1, most + 1);
  if (text) text->erase(0, std::min(text->find('\n'), text->size() - 1) + 1);
  return text;
}

}  // namespace tend
