// Any bytes are either refused in one line, or a record that, written again, is read as the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "store/lease_files.h"

// libFuzzer declares it nowhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto record = tend::parse_lease(text);
  if (!record) {
    CHECK(!record.error().text.empty() && record.error().text.find('\n') == std::string::npos);
    return 0;
  }
  CHECK(record->version > 0 && record->fence > 0);
  CHECK(record->takeovers.size() <= tend::kMostTakeovers);
  const std::string written = tend::format_lease(*record);
  const auto again = tend::parse_lease(written);
  CHECK(again.has_value());
  CHECK(tend::format_lease(*again) == written);
  return 0;
}
