// Changes one value in a JSON text of another system and leaves every other byte as it is: unknown
// fields, their order, indentation, line ends, even how a number is written. The text is scanned,
// never written anew.
//
// A field path has keys with points between them, and chooses an entry of an array by values of its
// fields: `agents[assigned_role=orchestrator,status=working].last_heartbeat`. A backslash takes the
// next character as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/json.h"

namespace tend {

/// Larger texts and deeper ones are refused.
inline constexpr std::size_t kLargestEdited = std::size_t{4} * 1024 * 1024;
inline constexpr std::size_t kDeepestEdited = 64;

struct JsonPath {
  struct Where {
    std::string field;
    std::string value;  // of a text, or a number or a word as JSON has it

    bool operator==(const Where&) const = default;
  };
  /// A key of an object; if `where` is not empty or there is an `entry`, one entry of an array.
  struct Step {
    std::string key;
    std::vector<Where> where;
    std::optional<std::size_t> entry;  // by number, once it was chosen

    [[nodiscard]] bool is_entry() const { return !where.empty() || entry.has_value(); }
    bool operator==(const Step&) const = default;
  };
  std::vector<Step> steps;

  bool operator==(const JsonPath&) const = default;
};

Result<JsonPath> parse_json_path(std::string_view text);
/// For people, and for parse_json_path(): an entry by number is shown as `[#3]` and not read.
std::string format_json_path(const JsonPath& path);

/// Whether an entry of an array is one that the step wants.
bool is_wanted_entry(const ReadJson& entry, const JsonPath::Step& step);
/// The value at the path; nullptr if there is none, or several entries are wanted alike.
const ReadJson* find_path(const ReadJson& json, const JsonPath& path);

/// The value at the path as it stands in the text; nullopt if only the last key is missing. Fails
/// as edit_json() does.
Result<std::optional<std::string>> written_value(std::string_view text, const JsonPath& path);

/// Puts `value`, which is JSON, at the path. A key that is missing in the last object of the path
/// is added in the style of its siblings. Fails if the text is malformed, with line and column; if
/// a key of the path is there twice; if not exactly one entry is wanted; if the way to the last
/// object is missing.
Result<std::string> edit_json(std::string_view text, const JsonPath& path, std::string_view value);

}  // namespace tend
