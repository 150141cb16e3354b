// Any bytes are either refused in one line, or a file that, written again, is read as the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "store/agent_file.h"

// libFuzzer declares it nowhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto file = tend::parse_agent_file(text);
  if (!file) {
    CHECK(!file.error().text.empty() && file.error().text.find('\n') == std::string::npos);
    return 0;
  }
  CHECK(!file->agent.empty() && file->command.size() <= 4096);
  CHECK(file->working_folder.empty() || file->working_folder.front() == '/');
  for (const std::string& word : file->command) CHECK(word.find('\0') == std::string::npos);
  const std::string written = tend::format_agent_file(*file);
  const auto again = tend::parse_agent_file(written);
  CHECK(again.has_value());
  CHECK(tend::format_agent_file(*again) == written);
  return 0;
}
