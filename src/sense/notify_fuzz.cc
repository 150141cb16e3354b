// Fuzzes the messages of sd_notify. Any datagram may come in; what is made of it is bounded, can be
// shown to a person, and reads the same when it is written out again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "sense/notify_message.h"

namespace {

bool is_printable(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) return false;
    if (byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0) {
      return false;
    }
  }
  return true;
}

void check_bounds(const tend::NotifyMessage& message) {
  if (message.status) {
    CHECK(message.status->size() <= 200);
    CHECK(is_printable(*message.status));
  }
  for (const auto& time : {message.extend, message.watchdog_every}) {
    CHECK(!time || (*time >= tend::Duration::zero() && *time <= tend::kLongestTime));
  }
  CHECK(!message.main_pid || *message.main_pid > 0);
  CHECK(!message.error_number || *message.error_number >= 0);
}

std::string written(const tend::NotifyMessage& message) {
  std::string text;
  if (message.ready) text += "READY=1\n";
  if (message.reloading) text += "RELOADING=1\n";
  if (message.stopping) text += "STOPPING=1\n";
  if (message.watchdog) text += "WATCHDOG=1\n";
  if (message.watchdog_trigger) text += "WATCHDOG=trigger\n";
  if (message.status) text += "STATUS=" + *message.status + "\n";
  const auto time = [&](const char* name, const std::optional<tend::Duration>& value) {
    if (value) text += name + std::to_string(value->count()) + "000\n";
  };
  time("EXTEND_TIMEOUT_USEC=", message.extend);
  time("WATCHDOG_USEC=", message.watchdog_every);
  if (message.main_pid) text += "MAINPID=" + std::to_string(*message.main_pid) + "\n";
  if (message.error_number) text += "ERRNO=" + std::to_string(*message.error_number) + "\n";
  return text;
}

}  // namespace

// libFuzzer declares it nowhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const tend::NotifyMessage message = tend::parse_notify_message(text);
  check_bounds(message);
  const std::string once = written(message);
  CHECK(written(tend::parse_notify_message(once)) == once);

  tend::SignalBatch batch;
  tend::append_signals(message, tend::Instant{tend::kLongestTime}, batch);
  CHECK(batch.signals.size() <= 3);
  for (const tend::Signal& signal : batch.signals) {
    CHECK(!signal.until || *signal.until >= tend::Instant{tend::kLongestTime});
  }
  return 0;
}
