// Fuzzes the reading of traces. Any bytes may come in; whatever they are, reading ends without a
// fault, gives times that never fall and texts that can be touched, and reads each line alike on
// the short way and on the thorough one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"
#include "os/world.h"
#include "sense/flat_line.h"
#include "sense/json_line.h"
#include "sense/line_splitter.h"
#include "sense/trace_reader.h"

namespace {

class Pieces final : public tend::ByteSource {
 public:
  Pieces(std::string_view text, std::size_t piece) : text_(text), piece_(piece) {}

  tend::Result<std::size_t> read(std::span<char> into) override {
    const std::size_t size = std::min({into.size(), piece_, text_.size()});
    std::memcpy(into.data(), text_.data(), size);
    text_.remove_prefix(size);
    return size;
  }

 private:
  std::string_view text_;
  std::size_t piece_;
};

void read_both_ways(std::string_view text) {
  Pieces pieces(text, text.size());
  tend::LineSplitter lines(pieces);
  tend::JsonLine json;
  tend::TraceFields flat;
  tend::TraceFields thorough;
  while (lines.next() == tend::LineSplitter::Got::line) {
    if (!tend::read_flat_line(lines.text(), flat)) continue;
    CHECK(json.read(lines.text(), thorough).empty());
    CHECK(flat == thorough);
  }
}

std::size_t touch(const tend::Signal& signal) {
  std::size_t sum = 0;
  for (const std::string_view text :
       {signal.id, signal.tool, signal.task, signal.child, signal.cause_word}) {
    for (const char c : text) sum += static_cast<unsigned char>(c);
  }
  return sum;
}

/// What a journal's header holds is JSON that can be read again as it is.
std::size_t touch(const tend::TraceHeader& header) {
  for (const std::string& raw : {header.judge, header.policy_full}) {
    if (raw.empty()) continue;
    const auto again = tend::parse_trace_header("{\"trace\":1,\"judge\":" + raw + "}");
    CHECK(again.has_value() && again->judge == raw);
  }
  CHECK(!header.at || *header.at >= tend::Instant{});
  return header.judge.size() + header.policy_full.size() + header.boot.size() + header.offset +
         header.said + header.beaten + header.actions;
}

/// All that comes out of a trace, as one number.
std::size_t read_trace(std::string_view text, std::size_t piece) {
  Pieces pieces(text, piece);
  std::size_t sum = 0;
  const auto report = [&](std::uint64_t line, std::string_view what) { sum += line * what.size(); };
  tend::TraceReader reader(pieces, "fuzz", report);
  reader.on_record([&](std::string_view line, tend::Instant at) {
    CHECK(at >= tend::Instant{} && at.time_since_epoch() <= tend::kLongestTime);
    sum += line.size();
  });
  const auto header = reader.open();
  if (!header) return sum;
  sum += touch(*header);
  tend::Moment moment;
  tend::Instant last{};
  for (auto more = reader.next(moment); more && *more; more = reader.next(moment)) {
    CHECK(moment.at >= last && moment.at.time_since_epoch() <= tend::kLongestTime);
    last = moment.at;
    sum += reader.was_there(moment.at - tend::Duration{1}) ? 1U : 0U;
    for (const tend::Signal& signal : moment.signals) {
      sum += touch(signal) * (static_cast<std::size_t>(signal.is) + 1);
    }
  }
  CHECK(reader.last() >= last);
  return sum + reader.offset() + reader.said() + reader.beaten();
}

}  // namespace

// libFuzzer declares it nowhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_both_ways(text);
  CHECK(read_trace(text, 1) == read_trace(text, 4096));
  return 0;
}
