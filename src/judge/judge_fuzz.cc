// Any bytes are a policy and a row of signals at any times; whatever they say, the judge answers in
// order: one verdict with its reasons, a deadline in the future, `preserve` before it destroys, and
// a snapshot that it goes on from exactly. Unlike the random traces of the property tests these
// signals need not make sense.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "judge/judge.h"

namespace {

using namespace std::chrono_literals;
using tend::Duration;
using tend::Instant;
using tend::Signal;

constexpr std::size_t kMostSignals = 600;
constexpr std::size_t kMostDeadlines = 300;

/// Reads the input byte by byte; past its end everything is zero.
class Bytes {
 public:
  explicit Bytes(std::span<const std::uint8_t> bytes) : left_(bytes) {}

  [[nodiscard]] bool empty() const { return left_.empty(); }
  std::uint8_t next() {
    if (left_.empty()) return 0;
    const std::uint8_t byte = left_.front();
    left_ = left_.subspan(1);
    return byte;
  }
  bool one_in(unsigned n) { return next() % n == 0; }

  template <class T, std::size_t N>
  T of(const std::array<T, N>& choices) {
    return choices[next() % N];
  }
  template <class Enum, std::size_t N>
  Enum word(const std::array<std::string_view, N>&) {
    return static_cast<Enum>(next() % N);
  }

 private:
  std::span<const std::uint8_t> left_;
};

/// From nothing to the longest time that is read from a trace.
Duration any_time(Bytes& bytes) {
  static constexpr std::array<Duration, 16> kTimes{0s,
                                                   1ms,
                                                   1s,
                                                   5s,
                                                   30s,
                                                   60s,
                                                   61s,
                                                   100s,
                                                   120s,
                                                   300s,
                                                   600s,
                                                   720s,
                                                   900s,
                                                   1800s,
                                                   std::chrono::hours{24},
                                                   tend::kLongestTime};
  const std::uint8_t byte = bytes.next();
  if (byte < 128) return kTimes[byte % kTimes.size()];
  return Duration{1LL << (byte % 46U)};
}

Duration within_reach(Duration time) { return std::clamp(time, Duration{}, tend::kLongestTime); }

/// A limit may be refused, with words.
void check(const tend::Result<void>& result) { CHECK(result || !result.error().text.empty()); }

tend::Policy any_policy(Bytes& bytes) {
  tend::Policy policy = *tend::built_in_policy(bytes.of(tend::kBuiltInPolicies));
  for (unsigned changes = bytes.next() % 4U; changes > 0; --changes) {
    const std::string_view limit = bytes.of(tend::kLimitKeys).name;
    const bool none = bytes.one_in(4);
    check(tend::set_limit(policy, limit, none ? tend::kNoLimit : any_time(bytes)));
  }
  if (bytes.one_in(4)) {
    const Duration suspect = any_time(bytes);
    check(tend::set_beats(policy, {suspect, within_reach(suspect + any_time(bytes))}));
  }
  for (unsigned rungs = bytes.next() % 4U; rungs > 0; --rungs) {
    const Duration after = std::max<Duration>(1ms, any_time(bytes));
    policy.ladder.push_back({after, 0, bytes.word<tend::Action>(tend::kActionWords)});
  }
  std::ranges::sort(policy.ladder, {}, &tend::Rung::after);
  policy.direct = bytes.one_in(8);
  return policy;
}

constexpr std::array<std::string_view, 8> kTexts{
    "",
    "a",
    "b",
    "c",
    "Bash",
    "Task",
    "\x01\xff\"\\",
    "a name that is longer than the forty-seven bytes that a Name keeps of it"};

/// Fills every field, whatever the kind uses: the judge must not care.
Signal any_signal(Bytes& bytes, Instant now) {
  Signal signal;
  signal.is = bytes.word<tend::Kind>(tend::kKindWords);
  const std::uint8_t detail = bytes.next();
  const auto detail_of = [&](const auto& words) { return detail % words.size(); };
  signal.process = static_cast<tend::ProcessState>(detail_of(tend::kProcessStateWords));
  signal.by = static_cast<tend::BeatBy>(detail_of(tend::kBeatByWords));
  signal.status = static_cast<tend::Status>(detail_of(tend::kStatusWords));
  signal.state = static_cast<tend::SelfState>(detail_of(tend::kSelfStateWords));
  signal.from = static_cast<tend::ActivityFrom>(detail_of(tend::kActivityFromWords));
  signal.verdict = static_cast<tend::Verdict>(detail_of(tend::kVerdictWords));
  signal.event = static_cast<tend::TaskEvent>(detail_of(tend::kTaskEventWords));
  signal.parent = static_cast<tend::ParentState>(detail_of(tend::kParentStateWords));
  signal.want = static_cast<tend::Want>(detail_of(tend::kWantWords));
  signal.cause = static_cast<tend::Cause>(detail_of(tend::kCauseWords));
  signal.cause_word = tend::word(signal.cause);

  const std::uint8_t flags = bytes.next();
  signal.background = (flags & 1U) != 0;
  signal.child_tool = (flags & 2U) != 0;
  signal.final = (flags & 4U) != 0;
  signal.for_parent = (flags & 8U) != 0;
  if ((flags & 16U) != 0) signal.limit = any_time(bytes);
  if ((flags & 32U) != 0) {
    const Duration from_now = any_time(bytes);
    const Duration since_start = now.time_since_epoch();
    signal.until =
        Instant{within_reach(bytes.one_in(4) ? since_start - from_now : since_start + from_now)};
  }
  if ((flags & 64U) != 0) {
    static constexpr std::array<std::uint32_t, 6> kLives{1, 2, 3, 5, 0xffff'fffe, 0xffff'ffff};
    signal.life = bytes.of(kLives);
  }
  static constexpr std::array<std::uint32_t, 6> kCounts{0, 1, 2, 3, 7, 0xffff'ffff};
  signal.same = bytes.of(kCounts);
  signal.count = signal.same;
  if ((flags & 128U) != 0) {
    signal.of = bytes.of(kCounts);
    signal.exit = {static_cast<tend::Exit::How>(bytes.next() % 3U), bytes.next()};
    signal.seconds = any_time(bytes);
  }
  signal.id = bytes.of(kTexts);
  signal.tool = kTexts[(detail / 8U) % kTexts.size()];
  signal.child = signal.id;
  if (signal.is == tend::Kind::task || (detail & 0xc0U) == 0xc0U) signal.task = bytes.of(kTexts);
  return signal;
}

class Drive {
 public:
  explicit Drive(tend::Policy policy) : judge_(std::move(policy)) {}

  void step(std::span<const Signal> signals, Instant now) {
    now_ = std::max(now_, now);
    const tend::Outcome outcome = judge_.step(signals, now);
    next_ = outcome.next;
    CHECK(!next_ || *next_ > now_);
    check(outcome.decisions);
    if (++steps_ % 16 == 0) pass_through_snapshot();
  }

  void run_out() {
    const Instant last{tend::kLongestTime};
    for (std::size_t i = 0; i < kMostDeadlines && next_ && *next_ <= last; ++i) step({}, *next_);
    pass_through_snapshot();
  }

  [[nodiscard]] std::optional<Instant> next() const { return next_; }

 private:
  void check(std::span<const tend::Decision> decisions) {
    bool preserved = false;
    for (std::size_t i = 0; i < decisions.size(); ++i) {
      const tend::Decision& decision = decisions[i];
      CHECK(!decision.because().empty());
      for (const tend::Reason& reason : decision.because()) CHECK(!describe(reason).empty());
      if (decision.kind == tend::Decision::Kind::verdict) {
        CHECK(i == 0);
        CHECK(decision.verdict == judge_.verdict());
        continue;
      }
      CHECK(decision.because().size() == 1);
      preserved = preserved || decision.action == tend::Action::preserve;
      CHECK(preserved || !is_destructive(decision.action));
    }
  }

  void pass_through_snapshot() {
    const std::string before = judge_.snapshot();
    auto restored = tend::Judge::restore(judge_.policy(), before);
    CHECK(restored.has_value());
    CHECK(restored->snapshot() == before);
    judge_ = std::move(*restored);
  }

  tend::Judge judge_;
  Instant now_{};
  std::optional<Instant> next_;
  std::size_t steps_ = 0;
};

}  // namespace

// libFuzzer declares it nowhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes({data, size});
  Drive drive(any_policy(bytes));
  Instant now{};
  std::vector<Signal> batch;
  for (std::size_t i = 0; i < kMostSignals && !bytes.empty(); ++i) {
    const std::uint8_t how = bytes.next();
    if ((how & 1U) != 0) now = Instant{within_reach((now + any_time(bytes)).time_since_epoch())};
    if ((how & 2U) != 0 && drive.next()) now = std::max(now, *drive.next());
    now = std::min(now, Instant{tend::kLongestTime});
    batch.push_back(any_signal(bytes, now));
    if ((how & 4U) != 0 && batch.size() < 8) continue;
    const Duration back = (how & 0xf8U) == 0xf8U ? any_time(bytes) : 0s;  // a clock that fell
    drive.step(batch, std::max(Instant{}, now - back));
    batch.clear();
  }
  drive.run_out();
  return 0;
}
