// Any bytes are either refused in one line, or a memory that, written again, is read as the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "store/patrol_file.h"

// libFuzzer declares it nowhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto past = tend::parse_patrol_past(text);
  if (!past) {
    CHECK(!past.error().text.empty() && past.error().text.find('\n') == std::string::npos);
    return 0;
  }
  CHECK(past->state.tasks.size() <= tend::kMostEpisodes);
  CHECK(past->told.size() <= tend::kMostTold);
  const std::string written = tend::format_patrol_past(*past);
  const auto again = tend::parse_patrol_past(written);
  CHECK(again.has_value());
  CHECK(tend::format_patrol_past(*again) == written);
  return 0;
}
