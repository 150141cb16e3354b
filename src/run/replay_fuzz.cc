// Fuzzes the replay of journals. Whatever the header says of a judge, it is refused in one line or
// goes on judging without a fault; and one that is cut in two goes on like the whole.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"
#include "judge/judge.h"
#include "os/world.h"
#include "run/replay.h"
#include "sense/trace_reader.h"

namespace {

using namespace std::chrono_literals;

constexpr tend::Duration kLongestGap = 48h;  // reminders make long silences slow
constexpr int kMostMoments = 200;

class Bytes final : public tend::ByteSource {
 public:
  explicit Bytes(std::string_view text) : text_(text) {}
  tend::Result<std::size_t> read(std::span<char> into) override {
    const std::size_t size = std::min(into.size(), text_.size());
    std::memcpy(into.data(), text_.data(), size);
    text_.remove_prefix(size);
    return size;
  }

 private:
  std::string_view text_;
};

struct Sum final : tend::DecisionSink {
  void decided(tend::Instant at, const tend::Decision& decision) override {
    CHECK(decision.reason_count <= tend::kMostReasons);
    last = std::max(last, at);
  }
  tend::Instant last{};
};

/// A judge goes on from its own snapshot like itself.
void go_on_twice(const tend::Judge& judge, tend::Instant until) {
  tend::TraceHeader header;
  header.judge = judge.snapshot();
  auto again = tend::first_judge(header, judge.policy());
  CHECK(again.has_value());
  CHECK(again->next() == judge.next() && again->snapshot() == header.judge);
  (void)again->step({}, until);
}

void replay(std::string_view text) {
  Bytes bytes(text);
  tend::TraceReader reader(bytes, "fuzz", [](std::uint64_t, std::string_view) {});
  const auto header = reader.open();
  if (!header) return;
  auto judge = tend::first_judge(*header, *tend::built_in_policy("agent"));
  if (!judge) {
    CHECK(judge.error().text.find('\n') == std::string::npos);
    return;
  }
  Sum sum;
  tend::Replay replay(*std::move(judge), reader, sum);
  tend::Moment moment;
  tend::Instant last = header->at.value_or(tend::Instant{});
  for (int i = 0; i < kMostMoments && reader.next(moment).value_or(false); ++i) {
    const tend::Instant due = std::min(replay.next().value_or(moment.at), moment.at);
    if (moment.at - due > kLongestGap) return;
    replay.take(moment);
    last = moment.at;
  }
  go_on_twice(replay.judge(), last + 1h);
}

}  // namespace

// libFuzzer declares it nowhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  replay({reinterpret_cast<const char*>(data), size});
  return 0;
}
