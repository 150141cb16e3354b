// A table of the names that mean something to us. A name that comes twice counts as it came last.
#include "sense/notify_message.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

namespace tend {
namespace {

constexpr std::size_t kLongestStatus = 200;

unsigned char byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

/// How many bytes the UTF-8 character at `at` has; 0 if there is none that is well-formed.
std::size_t character_at(std::string_view text, std::size_t at) {
  const unsigned char first = byte_at(text, at);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4U : (first >= 0xe0 ? 3U : 2U);
  if (first < 0xc2 || first > 0xf4) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte_at(text, at + i) & 0xc0U) != 0x80U) return 0;
  }
  const unsigned char second = byte_at(text, at + 1);
  const bool too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool no_character = (first == 0xed && second > 0x9f) || (first == 0xf4 && second > 0x8f);
  return too_long || no_character ? 0 : size;
}

/// Also U+0080 to U+009F, which some terminals obey.
bool is_control(std::string_view text, std::size_t at) {
  const unsigned char byte = byte_at(text, at);
  return byte < ' ' || byte == 0x7f || (byte == 0xc2 && byte_at(text, at + 1) < 0xa0);
}

std::optional<std::string> status_of(std::string_view text) {
  std::string status;
  bool full = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = character_at(text, at);
    if (size == 0) return std::nullopt;
    full = full || status.size() + size > kLongestStatus;
    if (!full && !is_control(text, at)) status += text.substr(at, size);
    at += size;
  }
  return status;
}

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number{};
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto read = std::from_chars(begin, end, number);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return number;
}

/// Microseconds, rounded up, so that a short time does not become none.
std::optional<Duration> microseconds(std::string_view text) {
  const auto count = whole_number<std::uint64_t>(text);
  if (!count) return std::nullopt;
  const std::uint64_t rounded = *count / 1000 + (*count % 1000 == 0 ? 0U : 1U);
  const auto most = static_cast<std::uint64_t>(kLongestTime.count());
  return Duration{static_cast<std::int64_t>(std::min(rounded, most))};
}

void set_flag(std::string_view value, bool& flag) { flag = flag || value == "1"; }

template <class T>
void set_known(std::optional<T> value, std::optional<T>& into) {
  if (value) into = std::move(value);
}

struct Row {
  std::string_view name;
  void (*read)(std::string_view value, NotifyMessage& message);
};
constexpr std::array kRows{
    Row{"READY", [](std::string_view value, NotifyMessage& m) { set_flag(value, m.ready); }},
    Row{"RELOADING",
        [](std::string_view value, NotifyMessage& m) { set_flag(value, m.reloading); }},
    Row{"STOPPING", [](std::string_view value, NotifyMessage& m) { set_flag(value, m.stopping); }},
    Row{"WATCHDOG",
        [](std::string_view value, NotifyMessage& m) {
          set_flag(value, m.watchdog);
          m.watchdog_trigger = m.watchdog_trigger || value == "trigger";
        }},
    Row{"STATUS",
        [](std::string_view value, NotifyMessage& m) { set_known(status_of(value), m.status); }},
    Row{"EXTEND_TIMEOUT_USEC",
        [](std::string_view value, NotifyMessage& m) { set_known(microseconds(value), m.extend); }},
    Row{"WATCHDOG_USEC",
        [](std::string_view value, NotifyMessage& m) {
          set_known(microseconds(value), m.watchdog_every);
        }},
    Row{"MAINPID",
        [](std::string_view value, NotifyMessage& m) {
          const auto pid = whole_number<std::int32_t>(value);
          if (pid && *pid > 0) m.main_pid = *pid;
        }},
    Row{"ERRNO",
        [](std::string_view value, NotifyMessage& m) {
          const auto number = whole_number<int>(value);
          if (number && *number >= 0) m.error_number = number;
        }},
};

Signal& add(Kind kind, SignalBatch& batch) {
  Signal& signal = batch.signals.emplace_back();
  signal.is = kind;
  return signal;
}

/// One report a message, the gravest: two that contradict each other would look like a change.
std::optional<SelfState> state_of(const NotifyMessage& message) {
  if (message.watchdog_trigger) return SelfState::stuck;
  if (message.stopping) return SelfState::exiting;
  if (message.ready || message.extend) return SelfState::working;
  return std::nullopt;
}

}  // namespace

NotifyMessage parse_notify_message(std::string_view text) {
  NotifyMessage message;
  while (!text.empty()) {
    const std::size_t newline = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, newline);
    text.remove_prefix(std::min(newline + 1, text.size()));
    const std::size_t equals = line.find('=');
    if (equals == line.npos) continue;
    const auto row = std::ranges::find(kRows, line.substr(0, equals), &Row::name);
    if (row != kRows.end()) row->read(line.substr(equals + 1), message);
  }
  return message;
}

void append_signals(const NotifyMessage& message, Instant now, SignalBatch& batch) {
  if (message.watchdog) add(Kind::beat, batch).by = BeatBy::agent;
  if (const auto state = state_of(message)) {
    Signal& report = add(Kind::state, batch);
    report.state = *state;
    if (message.extend) report.until = now + *message.extend;
  }
  if (message.status) add(Kind::activity, batch).from = ActivityFrom::log;
}

}  // namespace tend
