// Fuzzes OpenCode's lines: any bytes, to signals.
#include <cstddef>
#include <cstdint>

#include "sense/adapter_fuzz.h"

// libFuzzer declares it nowhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tend::fuzz_adapter(tend::make_opencode_adapter(), {reinterpret_cast<const char*>(data), size});
  return 0;
}
