// Fuzzes signals.jsonl and what an agent prints, from bytes to signals: pieces, lines, parsing. The
// result does not depend on how the bytes were cut into pieces, and nothing comes out that an agent
// may not say.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "sense/adapter.h"
#include "sense/signals_file.h"
#include "sense/tail.h"

namespace {

constexpr std::uint32_t kLife = 3;

bool only_others_know(const tend::Signal& signal) {
  switch (signal.is) {
    case tend::Kind::spawn:
    case tend::Kind::process:
    case tend::Kind::beat_failed:
    case tend::Kind::status:
    case tend::Kind::ping:
    case tend::Kind::ping_failed:
    case tend::Kind::child:
    case tend::Kind::parent:
    case tend::Kind::intent:
    case tend::Kind::suspend:
    case tend::Kind::lag:
    case tend::Kind::clock_step:
    case tend::Kind::fault:
    case tend::Kind::fleet:
      return true;
    default:
      return signal.is == tend::Kind::beat && signal.by == tend::BeatBy::keeper;
  }
}

void check(const tend::Signal& signal) {
  CHECK(!only_others_know(signal));
  CHECK(signal.life == 0 || signal.life >= kLife);
  CHECK(!signal.until || (*signal.until >= tend::Instant{} &&
                          signal.until->time_since_epoch() <= tend::kLongestTime));
}

/// All that comes out, as a text.
std::string read_in_pieces(std::string_view bytes, std::size_t piece) {
  tend::SignalsFile file;
  const std::unique_ptr<tend::Adapter> adapter = tend::make_line_adapter();
  std::string out;
  const auto take = [&](std::string_view line) {
    tend::SignalBatch batch;
    const auto took = file.take(line, kLife, std::chrono::hours{-1}, batch);
    CHECK(batch.signals.size() <= 1);
    CHECK(batch.signals.empty() || took == tend::SignalsFile::Took::taken);
    out += std::to_string(static_cast<int>(took));
    for (const tend::Signal& signal : batch.signals) {
      check(signal);
      for (const std::string_view text : {signal.id, signal.tool, signal.task, signal.cause_word}) {
        out += text;
      }
    }
    batch.clear();
    adapter->take(line, {}, batch);
    CHECK(batch.signals.size() == 1);
    out += batch.signals[0].is == tend::Kind::progress ? '+' : '-';
  };
  tend::LineFeed lines(take, [](std::uint64_t) { CHECK(false); });
  while (!bytes.empty()) {
    // A copy of its own size, so that reading behind it is found.
    const std::vector<char> copy(
        bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(std::min(piece, bytes.size())));
    lines.feed({copy.data(), copy.size()});
    bytes.remove_prefix(copy.size());
  }
  lines.flush();
  CHECK(lines.kept() == 0);
  return out;
}

}  // namespace

// libFuzzer declares it nowhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string whole = read_in_pieces(text, std::max<std::size_t>(size, 1));
  CHECK(read_in_pieces(text, 1) == whole);
  CHECK(read_in_pieces(text, 100) == whole);
  return 0;
}
