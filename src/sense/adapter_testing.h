// For tests of the adapters: lines in, signals out as text.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "sense/adapter.h"
#include "sense/testing.h"

namespace tend {

/// "tool-open id=t1 tool=Bash limit=600". Times are seconds since the line was seen.
inline std::string as_text(const Signal& signal, Instant now) {
  const auto seconds = [](Duration duration) {
    return std::chrono::duration<double>(duration).count();
  };
  std::string text(word(signal.is));
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) text += fmt::format(" {}={}", name, value);
  };
  add("id", signal.id);
  add("tool", signal.tool);
  if (signal.limit) add("limit", fmt::format("{}", seconds(*signal.limit)));
  if (signal.background) text += " background";
  if (signal.child_tool) text += " child";
  if (signal.count > 0) add("count", fmt::format("{}", signal.count));
  if (signal.until) add("until", fmt::format("{}", seconds(*signal.until - now)));
  add("cause", signal.cause_word);
  if (signal.cause == Cause::another) text += " (another)";
  if (signal.final) text += " final";
  if (signal.same > 0) add("same", fmt::format("{}", signal.same));
  add("task", signal.task);
  return text;
}

/// Hears lines, each in a moment of its own unless said otherwise.
class Hearing {
 public:
  explicit Hearing(std::unique_ptr<Adapter> with) : adapter(std::move(with)) {}

  /// The signals of one moment: "answer id=q | tool-close id=q". "" if there are none.
  std::string at_once(std::initializer_list<std::string_view> lines) {
    SignalBatch batch;
    for (const std::string_view line : lines) adapter->take(PaddedLine(line).view(), seen, batch);
    std::string text;
    for (const Signal& signal : batch.signals) {
      text += (text.empty() ? "" : " | ") + as_text(signal, seen.now);
    }
    return text;
  }
  std::string operator()(std::string_view line) { return at_once({line}); }

  /// The number of signals of one line.
  std::size_t count(std::string_view line) {
    SignalBatch batch;
    adapter->take(PaddedLine(line).view(), seen, batch);
    return batch.signals.size();
  }

  [[nodiscard]] const Conversation& conversation() const { return *adapter->conversation(); }

  std::unique_ptr<Adapter> adapter;
  LineTime seen{.now = Instant{std::chrono::seconds{1000}}};
};

}  // namespace tend
