// The first line is a path, the rest a text. What the library refuses is refused with a place; what
// is edited has the new value at the path, and all other values as before.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "store/foreign/json_edit.h"
#include "store/foreign/json_scan.h"
#include "store/lines.h"

namespace {

constexpr std::string_view kValue = "\"2026-01-04T20:19:13Z\"";

/// What the library makes of the same change.
tend::ReadJson changed(std::string_view text, tend::JsonPath path) {
  auto json = tend::ReadJson::parse(text);
  if (const auto* const found = tend::find_path(json, path)) {
    const_cast<tend::ReadJson&>(*found) = tend::ReadJson::parse(kValue);
    return json;
  }
  const std::string key = path.steps.back().key;
  path.steps.pop_back();
  const auto* const parent = tend::find_path(json, path);
  CHECK(parent != nullptr && parent->is_object());
  const_cast<tend::ReadJson&>(*parent)[key] = tend::ReadJson::parse(kValue);
  return json;
}

/// The change may be one of what the entry is chosen by.
bool chooses_by(const tend::JsonPath& path, const std::string& key) {
  for (const auto& step : path.steps) {
    for (const auto& where : step.where) {
      if (where.field == key) return true;
    }
  }
  return false;
}

void check_edit(const tend::JsonPath& path, std::string_view text) {
  const bool accepted = tend::ReadJson::accept(text);
  const auto edited = tend::edit_json(text, path, kValue);
  if (!edited) {
    CHECK(!edited.error().text.empty() && edited.error().text.find('\n') == std::string::npos);
    return;
  }
  CHECK(accepted && tend::ReadJson::accept(*edited));
  CHECK(tend::ReadJson::parse(*edited) == changed(text, path));
  if (path.steps.back().is_entry() || chooses_by(path, path.steps.back().key)) return;
  const auto again = tend::edit_json(*edited, path, kValue);
  CHECK(again.has_value() && *again == *edited);
}

}  // namespace

// libFuzzer declares it nowhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.empty()) return 0;
  const std::string_view line = tend::take_line(text);
  if (tend::scan_json(text)) CHECK(tend::ReadJson::accept(text));
  const auto path = tend::parse_json_path(line);
  if (!path) {
    CHECK(!path.error().text.empty());
    return 0;
  }
  CHECK(tend::parse_json_path(tend::format_json_path(*path)) == *path);
  check_edit(*path, text);
  return 0;
}
