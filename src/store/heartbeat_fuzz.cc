// Any bytes are either no heartbeat, or one whose values are in their bounds and which, written
// again, is read as the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "store/heartbeat.h"

namespace {

void check_bounds(const tend::Heartbeat& heartbeat) {
  for (const std::string* name : {&heartbeat.agent, &heartbeat.session, &heartbeat.role}) {
    CHECK(name->size() <= 128 && name->find('\0') == std::string::npos);
    CHECK(name->find('\n') == std::string::npos);
  }
  CHECK(heartbeat.note.size() <= 400 && heartbeat.next.size() <= 400);
  for (const std::string& reason : heartbeat.because) CHECK(reason.size() <= 400);
  CHECK(heartbeat.process.pid >= 0 && heartbeat.keeper.pid >= 0);
  CHECK(heartbeat.started >= 0 && heartbeat.since >= 0 && heartbeat.next_at >= 0);
  CHECK(heartbeat.parent_heartbeat.empty() || heartbeat.parent_heartbeat.front() == '/');
}

}  // namespace

// libFuzzer declares it nowhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto heartbeat = tend::parse_heartbeat(text);
  if (!heartbeat) {
    CHECK(!heartbeat.error().text.empty());
    return 0;
  }
  check_bounds(*heartbeat);
  const std::string written = tend::format_heartbeat(*heartbeat);
  const auto again = tend::parse_heartbeat(written);
  CHECK(again.has_value());
  CHECK(tend::format_heartbeat(*again) == written);
  return 0;
}
