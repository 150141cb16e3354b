// Fuzzes what a hook is given: whatever it is, signals come of it, and each is one that a keeper
// takes from an agent.
#include <cstddef>
#include <cstdint>
#include <string>

#include "app/hook_signals.h"
#include "base/check.h"
#include "client/tend.h"
#include "sense/line_splitter.h"
#include "sense/signals_file.h"

// libFuzzer declares it nowhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using enum tend::Hearing;
  const std::string input(reinterpret_cast<const char*>(data), size);
  tend::SignalsFile file;
  for (std::size_t agent = 0; agent < tend::kHookAgents.size(); ++agent) {
    for (const tend::Hearing hearing : {all, beside_stream, nested}) {
      const auto signals = tend::hook_signals(static_cast<tend::HookAgent>(agent), input, hearing);
      CHECK(!signals.empty());
      for (const std::string& signal : signals) {
        CHECK(signal.size() <= TEND_LONGEST_SIGNAL);
        tend::SignalBatch batch;
        const std::string padded = signal + "\n" + std::string(tend::LineSplitter::kPadding, ' ');
        const auto took = file.take({padded.data(), signal.size()}, 1, {}, batch);
        CHECK(took == tend::SignalsFile::Took::taken);
        CHECK(batch.signals.size() == 1);
      }
    }
  }
  return 0;
}
