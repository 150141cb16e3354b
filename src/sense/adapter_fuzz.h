// What the fuzzers of the adapters share: any bytes as lines, and what must hold of the signals,
// whatever the lines were.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "sense/adapter.h"
#include "sense/stream_json.h"

namespace tend {

/// A line can end all calls and all tasks at once, and each of its blocks can say three things.
inline constexpr std::size_t kMostSignalsOfALine = 3 * stream::kMostObjects + 1024;
inline constexpr std::size_t kLongestTextOfASignal = 300;

inline bool is_of_a_stream(const Signal& signal) {
  switch (signal.is) {
    case Kind::progress:
    case Kind::noise:
    case Kind::tool_open:
    case Kind::tool_beat:
    case Kind::tool_close:
    case Kind::compact_start:
    case Kind::compact_end:
    case Kind::retry:
    case Kind::ask:
    case Kind::answer:
    case Kind::turn_start:
    case Kind::turn_end:
    case Kind::error:
      return true;
    default:
      return signal.is == Kind::activity && signal.from == ActivityFrom::log;
  }
}

/// All texts of a batch, one after another. Reads every byte of them.
inline std::string texts_of(const SignalBatch& batch) {
  std::string texts;
  for (const Signal& signal : batch.signals) {
    for (const std::string_view text : {signal.id, signal.tool, signal.task, signal.cause_word}) {
      CHECK(text.size() <= kLongestTextOfASignal);
      texts += text;
      texts += '\n';
    }
  }
  return texts;
}

inline void check_signals(const SignalBatch& batch, Instant now) {
  CHECK(batch.signals.size() <= kMostSignalsOfALine);
  for (const Signal& signal : batch.signals) {
    CHECK(is_of_a_stream(signal));
    CHECK(signal.life == 0);
    CHECK(!signal.until || *signal.until >= now);
    CHECK(!signal.limit || *signal.limit >= Duration{});
    const bool names_a_call = signal.is == Kind::tool_open || signal.is == Kind::tool_close ||
                              signal.is == Kind::tool_beat || signal.is == Kind::ask ||
                              signal.is == Kind::answer;
    CHECK(!names_a_call || !signal.id.empty());
    CHECK(signal.is != Kind::retry || signal.cause != Cause::none);
    CHECK(signal.is != Kind::error || signal.cause != Cause::none);
    CHECK((signal.cause == Cause::none) == signal.cause_word.empty());
  }
}

/// Feeds `bytes` as lines. A line of nothing but "!" begins a new life.
inline void fuzz_adapter(std::unique_ptr<Adapter> adapter, std::string_view bytes) {
  const LineTime seen{.now = Instant{std::chrono::seconds{1000}},
                      .wall = WallTime{std::chrono::seconds{1'790'000'000}}};
  std::list<SignalBatch> batches;
  std::vector<std::string> said;
  while (!bytes.empty()) {
    const std::size_t size = std::min(bytes.find('\n'), bytes.size());
    // A copy of its own, so that reading behind it, or after its time, is found.
    std::vector<char> line(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    line.resize(size + LineSplitter::kPadding);
    bytes.remove_prefix(std::min(size + 1, bytes.size()));
    const std::string_view text(line.data(), size);
    if (text == "!") adapter->begin_life();
    SignalBatch& batch = batches.emplace_back();
    adapter->take(text, seen, batch);
    check_signals(batch, seen.now);
    said.push_back(texts_of(batch));
    for (const std::string& remark : adapter->take_remarks()) CHECK(remark.size() < 500);
  }
  if (const Conversation* const conversation = adapter->conversation()) {
    CHECK(conversation->session.size() <= kLongestTextOfASignal);
  }
  adapter.reset();
  auto before = said.begin();
  for (const SignalBatch& batch : batches) CHECK(texts_of(batch) == *before++);
}

}  // namespace tend
