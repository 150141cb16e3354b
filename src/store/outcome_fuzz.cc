// Any bytes are no outcome, or one that an agent may say, in its bounds, which, written again, is
// read as the same. The same bytes as the other system's state too.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "store/outcome.h"

namespace {

void check_outcome(const std::optional<tend::OutcomeFile>& said) {
  if (!said) return;
  using tend::WorkOutcome;
  CHECK(said->outcome == WorkOutcome::none || said->outcome == WorkOutcome::done ||
        said->outcome == WorkOutcome::withdrawn || said->outcome == WorkOutcome::escalated);
  CHECK(said->phase.size() <= 128 && said->note.size() <= 400 && said->at >= 0);
  for (const std::string* text : {&said->phase, &said->note}) {
    CHECK(text->find('\0') == std::string::npos && text->find('\n') == std::string::npos);
  }
  CHECK(tend::parse_outcome(tend::format_outcome(*said)) == said);
}

}  // namespace

// libFuzzer declares it nowhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_outcome(tend::parse_outcome(text));
  const auto foreign = tend::parse_foreign_state(text);
  CHECK(!foreign || !foreign->phase.empty());
  check_outcome(foreign);
  return 0;
}
