// Fuzzes what comes through the gate's door, and commands for replies: whatever it is, it is a
// request of the right kinds or an error of one line, and words can be put together again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "app/gate_request.h"
#include "app/split_words.h"
#include "base/check.h"

namespace {

void check_line(const tend::GateNo& no) {
  CHECK(no.kind == tend::GateNo::Kind::bad_input);
  CHECK(!no.code.empty() && !no.text.empty() && !no.text.contains('\n'));
}

/// In single quotes, as a shell wants them.
std::string quoted(const std::string& word) {
  std::string made = "'";
  for (const char c : word) made += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return made + "'";
}

void check_words(std::string_view text) {
  const auto words = tend::split_words(text);
  if (!words) return;
  std::string again;
  for (const std::string& word : *words) again += quoted(word) + " ";
  const auto same = tend::split_words(again);
  CHECK(same && *same == *words);
}

}  // namespace

// libFuzzer declares it nowhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  check_words(line);
  const auto request = tend::gate_request(line);
  if (!request) {
    check_line(request.error());
    return 0;
  }
  const auto order = tend::receive_order(*request);
  if (!order) check_line(order.error());
  const auto id = tend::id_of(*request);
  CHECK(!id || *id >= 1);
  if (!id) check_line(id.error());
  return 0;
}
