// Any bytes are lines that are refused with words, or lines whose values are in their bounds and
// which, written again, are read as the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "store/children.h"
#include "store/lines.h"

namespace {

void check_bounds(const tend::ChildLine& line) {
  const std::string folder = tend::folder_of_heartbeat(line.heartbeat);
  CHECK(folder.starts_with('/') && line.heartbeat == folder + "/.heartbeat");
  CHECK(line.heartbeat.find("/../") == std::string::npos);
  for (const std::string* text :
       {&line.heartbeat, &line.team, &line.task_id, &line.agent, &line.note}) {
    CHECK(text->find('\0') == std::string::npos && text->find('\n') == std::string::npos);
  }
  CHECK(line.team.size() <= 128 && line.task_id.size() <= 128 && line.agent.size() <= 128);
  CHECK(line.note.size() <= 400 && line.at >= 0);
}

void check_line(std::string_view text) {
  const auto line = tend::parse_child_line(text);
  if (!line) {
    CHECK(!line.error().text.empty() && line.error().text.find('\n') == std::string::npos);
    return;
  }
  check_bounds(*line);
  const std::string written = tend::format_child_line(*line);
  CHECK(written.size() < 4095);
  const auto again = tend::parse_child_line(written);
  CHECK(again.has_value() && *again == *line);
}

}  // namespace

// libFuzzer declares it nowhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  check_line(text);
  while (!text.empty()) check_line(tend::take_line(text));
  return 0;
}
