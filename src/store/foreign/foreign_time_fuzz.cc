// Any bytes are refused with words, or a plausible time which, written in its own style, is read as
// the same up to what the style has digits for.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "store/foreign/foreign_time.h"

// libFuzzer declares it nowhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const tend::WallTime now{std::chrono::seconds{1'767'557'953}};
  for (const bool local : {false, true}) {
    const tend::TimeContext context{
        .now = now, .local_east = std::chrono::minutes{-210}, .plain_is_local = local};
    const auto time = tend::parse_foreign_time(text, context);
    if (!time) {
      CHECK(!time.error().text.empty() && time.error().text.find('\n') == std::string::npos);
      continue;
    }
    CHECK(tend::check_plausible(time->at, now).has_value());
    const std::string written = tend::format_foreign_time(time->at, time->style);
    const auto again = tend::parse_foreign_time(written, context);
    CHECK(again.has_value() && again->at <= time->at);
    CHECK(time->at - again->at < std::chrono::seconds{1} && again->style == time->style);
  }
  return 0;
}
