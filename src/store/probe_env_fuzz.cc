// Any bytes are either times in their bounds, or an error of one line; and other lines change
// neither.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "store/probe_env.h"

namespace {

bool is_time(const std::optional<tend::Duration>& time) {
  return !time || (*time > tend::Duration::zero() && *time <= tend::kLongestTime);
}

}  // namespace

// libFuzzer declares it nowhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto times = tend::heartbeat_times(text);
  const auto more = tend::heartbeat_times(text + "\nTOKEN=secret\n");
  CHECK(times.has_value() == more.has_value());
  if (!times) {
    CHECK(times.error().text.starts_with("line "));
    CHECK(times.error().text.find('\n') == std::string::npos);
    return 0;
  }
  CHECK(*times == *more);
  CHECK(is_time(times->interval) && is_time(times->deadline));
  const auto alone = tend::heartbeat_times(text, text);
  CHECK(!alone || is_time(alone->interval));
  return 0;
}
