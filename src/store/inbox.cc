// One keeper appends, so the next id is one more than the last. `.inbox-read` counts too: what
// comes after a lost file must not look as if it had been read.
#include "store/inbox.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/quote.h"
#include "store/json.h"
#include "store/lines.h"

namespace tend {
namespace {

constexpr std::size_t kFullInbox = std::size_t{1024} * 1024;
constexpr std::size_t kMostRead = 2 * kFullInbox;
constexpr std::size_t kMostKept = 500;  // of a full one
constexpr std::size_t kMostKeptBytes = kFullInbox / 2;
constexpr std::size_t kMostShown = 1000;
constexpr std::size_t kLongestLine = std::size_t{16} * 1024;
constexpr std::size_t kLongestText = std::size_t{3} * 1024;
constexpr std::size_t kLongestName = 128;
constexpr std::size_t kLongestPath = 4096;
constexpr std::size_t kLargestMark = 4096;
constexpr std::uint64_t kMostLife = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMostId = std::uint64_t{1} << 53U;

std::string format_message(const InboxMessage& message) {
  WriteJson json{
      {"id", message.id},
      {"at", rounded_seconds(message.at)},
      {"kind", one_line(message.kind, kLongestName)},
      {"from", one_line(message.from, kLongestName)},
      {"text", one_line(message.text, kLongestText)},
  };
  if (!message.folder.empty()) json["folder"] = one_line(message.folder, kLongestPath);
  if (message.life > 0) json["life"] = message.life;
  return to_line(json);
}

std::optional<InboxMessage> parse_message(std::string_view line) {
  const auto object = parse_object(line, kLongestLine);
  if (!object) return std::nullopt;
  InboxMessage message{
      .id = whole_number(*object, "id", kMostId),
      .at = calendar_field(*object, "at"),
      .kind = shown_text(*object, "kind", kLongestName),
      .from = shown_text(*object, "from", kLongestName),
      .text = shown_text(*object, "text", kLongestText),
      .folder = shown_text(*object, "folder", kLongestPath),
      .life = static_cast<std::uint32_t>(whole_number(*object, "life", kMostLife)),
  };
  return message.id == 0 ? std::nullopt : std::optional(std::move(message));
}

using RawLines = std::vector<std::string_view>;

RawLines lines_of(std::string_view text) {
  RawLines lines;
  while (!text.empty()) lines.push_back(take_line(text));
  return lines;
}

Result<std::uint64_t> read_mark(Folder& folder) {
  const auto text = folder.read(std::string(kInboxReadFile), kLargestMark);
  if (!text) return std::unexpected(text.error());
  const auto object = *text ? parse_object(**text, kLargestMark) : std::nullopt;
  return object ? whole_number(*object, "id", kMostId) : 0;
}

std::uint64_t last_id(const RawLines& lines) {
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (const auto message = parse_message(*line)) return message->id;
  }
  return 0;
}

/// The id of a message that says the same. Only one of all lines is parsed: what we write is equal
/// from the kind on if it says the same, and a quote inside of a text is never a bare one.
std::optional<std::uint64_t> said_before(const RawLines& lines, std::string_view new_line) {
  const std::string_view said = new_line.substr(new_line.find(R"(,"kind":)"));
  const auto same =
      std::ranges::find_if(lines, [&](std::string_view line) { return line.ends_with(said); });
  const auto message = same == lines.end() ? std::nullopt : parse_message(*same);
  return message ? std::optional(message->id) : std::nullopt;
}

/// The newest messages of a full inbox that leave it half empty, in their order.
std::string newest_of(const RawLines& lines) {
  RawLines newest;
  std::size_t bytes = 0;
  for (auto line = lines.rbegin(); line != lines.rend() && newest.size() < kMostKept; ++line) {
    if (!parse_message(*line)) continue;
    bytes += line->size() + 1;
    if (bytes > kMostKeptBytes) break;
    newest.push_back(*line);
  }
  std::string text;
  for (auto line = newest.rbegin(); line != newest.rend(); ++line) text.append(*line) += '\n';
  return text;
}

Result<bool> is_full(Folder& folder) {
  const auto facts = folder.facts(std::string(kInboxFile));
  if (!facts) return std::unexpected(facts.error());
  return *facts && (*facts)->size > kFullInbox;
}

Result<void> add(Folder& folder, RawLines lines, std::string_view new_line) {
  const auto full = is_full(folder);
  if (!full) return std::unexpected(full.error());
  if (!*full) return append_line(folder, kInboxFile, new_line, Folder::Sync::yes);
  lines.push_back(new_line);
  return folder.replace(std::string(kInboxFile), newest_of(lines), Folder::Sync::yes);
}

}  // namespace

std::uint64_t Inbox::unread() const {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      messages, [this](const InboxMessage& message) { return message.id > read_to; }));
}

Result<std::uint64_t> append_message(Folder& folder, InboxMessage message) {
  const auto text = last_lines(folder, kInboxFile, kMostRead);
  if (!text) return std::unexpected(text.error());
  const auto mark = read_mark(folder);
  if (!mark) return std::unexpected(mark.error());
  RawLines lines = lines_of(*text);
  message.id = std::max(last_id(lines), *mark) + 1;
  if (message.id > kMostId) {
    return fail(on_one_line(folder.path()) + "/" + std::string(kInboxFile) +
                ": no id is left; move it away, and .inbox-read with it");
  }
  const std::string line = format_message(message);
  if (const auto id = said_before(lines, line)) return *id;
  if (auto added = add(folder, std::move(lines), line); !added) {
    return std::unexpected(added.error());
  }
  return message.id;
}

Result<Inbox> read_inbox(Folder& folder) {
  const auto text = last_lines(folder, kInboxFile, kMostRead);
  if (!text) return std::unexpected(text.error());
  const auto mark = read_mark(folder);
  if (!mark) return std::unexpected(mark.error());
  const RawLines lines = lines_of(*text);
  Inbox inbox{.messages = {}, .read_to = *mark};
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    if (inbox.messages.size() == kMostShown) break;
    if (auto message = parse_message(*line)) inbox.messages.push_back(*std::move(message));
  }
  std::ranges::reverse(inbox.messages);
  return inbox;
}

Result<void> mark_read(Folder& folder, std::uint64_t id) {
  const auto mark = read_mark(folder);
  if (!mark) return std::unexpected(mark.error());
  if (id <= *mark) return {};
  if (id > kMostId) return fail(fmt::format("there is no message {}", id));
  return folder.replace(std::string(kInboxReadFile), to_line({{"id", id}}) + "\n",
                        Folder::Sync::no);
}

}  // namespace tend
