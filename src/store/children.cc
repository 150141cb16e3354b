// Reading trusts nobody: other systems write the file too. What a parsed line holds is bounded so
// that it is always written again in less than 4 KB.
#include "store/children.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/quote.h"
#include "store/heartbeat.h"
#include "store/json.h"
#include "store/lines.h"

namespace tend {
namespace {

constexpr std::size_t kLargestRegistry = std::size_t{16} * 1024 * 1024;
constexpr std::size_t kLongestRead = std::size_t{64} * 1024;  // of others' lines
constexpr std::size_t kLongestPath = 2048;                    // in JSON
constexpr std::size_t kLongestName = 128;
constexpr std::size_t kLongestNote = 400;

std::size_t size_in_json(std::string_view path) {
  const auto is_escaped = [](char c) { return c == '"' || c == '\\'; };
  return path.size() + static_cast<std::size_t>(std::ranges::count_if(path, is_escaped));
}

/// An id tells calls apart, so one that would have to be changed to be shown is none.
std::string read_id(const ReadJson& object, std::string_view key) {
  std::string id = exact_text(object, key, kLongestName);
  return on_one_line(id) == id ? id : "";
}

/// A line that could not be read again would be a child that nobody knows of.
Result<std::string> readable_line(const ChildLine& line) {
  std::string text = format_child_line(line);
  const auto read = parse_child_line(text);
  if (!read || read->heartbeat != line.heartbeat) {
    return fail(in_quotes(line.heartbeat) + " cannot be registered: the path of a heartbeat is " +
                "absolute, UTF-8, without '..' and control characters and shorter than 2 KB");
  }
  return text;
}

}  // namespace

std::string folder_of_heartbeat(std::string_view heartbeat) {
  const bool is_plain = heartbeat.starts_with('/') && !heartbeat.contains("/../") &&
                        on_one_line(heartbeat) == heartbeat;
  const std::string end = "/" + std::string(kHeartbeatFile);
  if (!is_plain || !heartbeat.ends_with(end)) return "";
  heartbeat.remove_suffix(end.size());
  return std::string(heartbeat);
}

std::string format_child_line(const ChildLine& line) {
  const std::string task_id = one_line(line.task_id, kLongestName);
  WriteJson json{
      {"heartbeat", line.heartbeat},
      {"team", one_line(line.team, kLongestName)},
      {"task_id", task_id.empty() ? WriteJson(nullptr) : WriteJson(task_id)},
      {"status", kChildStatusWords[static_cast<std::size_t>(line.status)]},
      {"agent", one_line(line.agent, kLongestName)},
      {"at", rounded_seconds(line.at)},
      {"note", one_line(line.note, kLongestNote)},
  };
  if (line.untold) json["untold"] = true;
  return to_line(json);
}

Result<ChildLine> parse_child_line(std::string_view line) {
  const auto object = parse_object(line, kLongestRead);
  if (!object) return fail("the line is no JSON object");
  std::string heartbeat = exact_text(*object, "heartbeat", kLongestPath);
  if (folder_of_heartbeat(heartbeat).empty() || size_in_json(heartbeat) > kLongestPath) {
    return fail("the line has no absolute path of a heartbeat");
  }
  return ChildLine{
      .heartbeat = std::move(heartbeat),
      .team = shown_text(*object, "team", kLongestName),
      .task_id = read_id(*object, "task_id"),
      .status = word_field<ChildStatus>(*object, "status", kChildStatusWords)
                    .value_or(ChildStatus::active),
      .agent = shown_text(*object, "agent", kLongestName),
      .at = calendar_field(*object, "at"),
      .note = shown_text(*object, "note", kLongestNote),
      .untold = flag_field(*object, "untold"),
  };
}

Result<ChildrenRead> read_children(Folder& folder) {
  const auto text = folder.read(std::string(kChildrenFile), kLargestRegistry);
  if (!text) return std::unexpected(text.error());
  ChildrenRead read;
  std::unordered_map<std::string, std::size_t> places;
  std::string_view left = *text ? std::string_view(**text) : std::string_view();
  while (!left.empty()) {
    const std::string_view line = take_line(left);
    if (line.empty()) continue;
    ++read.lines;
    auto child = parse_child_line(line);
    if (!child) {
      ++read.refused;
      continue;
    }
    const auto [place, is_new] = places.try_emplace(child->heartbeat, read.children.size());
    if (is_new) {
      read.children.push_back(*std::move(child));
    } else {
      read.children[place->second] = *std::move(child);
    }
  }
  return read;
}

Result<void> append_child(Folder& folder, const ChildLine& line) {
  const auto text = readable_line(line);
  if (!text) return std::unexpected(text.error());
  return append_line(folder, kChildrenFile, *text, Folder::Sync::yes);
}

Result<void> compact_children(Folder& folder, std::span<const ChildLine> children) {
  std::string all;
  for (const ChildLine& child : children) {
    const auto text = readable_line(child);
    if (!text) return std::unexpected(text.error());
    all += *text + "\n";
  }
  return folder.replace(std::string(kChildrenFile), all, Folder::Sync::yes);
}

Result<std::unique_ptr<File>> lock_registry(Folder& folder) {
  auto file = folder.open(std::string(kRegistryLockFile), Folder::Open::update);
  if (!file) return file;
  const auto locked = (*file)->lock();
  if (!locked) return std::unexpected(locked.error());
  if (!*locked) return nullptr;
  return file;
}

}  // namespace tend
