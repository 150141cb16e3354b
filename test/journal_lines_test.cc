// What a journal writes, a trace reader reads: every signal comes back as it was, and a header
// tells it who was judged, by which policy, and up to where.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/judge.h"
#include "os/sim/sim_universe.h"
#include "sense/line_splitter.h"
#include "sense/text_arena.h"
#include "sense/trace_line.h"
#include "sense/trace_reader.h"
#include "store/journal.h"
#include "store/json.h"
#include "store/policy_json.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

/// A signal with the texts it points into.
struct Said {
  Signal signal;
  std::vector<std::string> texts;
};

std::string a_character() {
  return *rc::gen::element<std::string>("a", "Z", "\"", "\\", "\n", "\t", "\x01", "\x7f", " ", "ä",
                                        "€", "\xf0\x9f\xa7\x80", "{", "}", ":", ",",
                                        std::string(1, '\0'));
}

std::string a_text(bool may_be_empty) {
  std::string text;
  const int size = *rc::gen::inRange(may_be_empty ? 0 : 1, 80);
  for (int i = 0; i < size; ++i) text += a_character();
  return text;
}

Duration a_time() {
  return Duration{*rc::gen::oneOf(rc::gen::inRange<std::int64_t>(0, 100'000),
                                  rc::gen::inRange<std::int64_t>(0, kLongestTime.count()))};
}

template <class Enum, std::size_t N>
Enum a_word(const std::array<std::string_view, N>& /*words*/) {
  return static_cast<Enum>(*rc::gen::inRange<std::size_t>(0, N));
}

class Speaker {
 public:
  explicit Speaker(Kind kind) {
    said_.signal.is = kind;
    said_.texts.reserve(8);
  }

  Said speak() {
    Signal& signal = said_.signal;
    signal.life = *rc::gen::element(0U, 1U, 7U, 4'294'967'295U);
    if (*rc::gen::arbitrary<bool>()) signal.task = text(true);
    speak_of_kind(signal);
    return std::move(said_);
  }

 private:
  std::string_view text(bool may_be_empty) {
    return said_.texts.emplace_back(a_text(may_be_empty));
  }

  /// A provider's cause has its own word, any other one that is no provider's.
  void cause(Signal& signal) {
    signal.cause = a_word<Cause>(kCauseWords);
    if (signal.cause == Cause::another) {
      signal.cause_word = text(true);
      RC_PRE(!from_word<Cause>(kCauseWords, signal.cause_word));
    } else if (signal.cause != Cause::none) {
      signal.cause_word = word(signal.cause);
    }
  }

  static void until(Signal& signal) {
    if (*rc::gen::arbitrary<bool>()) signal.until = Instant{a_time()};
  }

  void tool_open(Signal& signal) {
    signal.id = text(true);
    signal.tool = *rc::gen::arbitrary<bool>() ? std::string_view("Task") : text(true);
    if (*rc::gen::arbitrary<bool>()) signal.limit = a_time();
    signal.background = *rc::gen::arbitrary<bool>();
    signal.child_tool = *rc::gen::arbitrary<bool>();
  }

  static void process(Signal& signal) {
    signal.process = a_word<ProcessState>(kProcessStateWords);
    signal.exit.how = *rc::gen::element(Exit::How::unknown, Exit::How::code, Exit::How::signal);
    if (signal.exit.how != Exit::How::unknown) signal.exit.value = *rc::gen::inRange(-1, 256);
  }

  void speak_of_kind(Signal& signal);

  Said said_;
};

void Speaker::speak_of_kind(Signal& signal) {
  const auto count = [] { return *rc::gen::element(0U, 1U, 3U, 4'294'967'295U); };
  switch (signal.is) {
    case Kind::spawn:
      signal.pid = *rc::gen::inRange<std::int64_t>(0, 5'000'000);
      break;
    case Kind::process:
      process(signal);
      break;
    case Kind::beat:
      signal.by = a_word<BeatBy>(kBeatByWords);
      break;
    case Kind::status:
      signal.status = a_word<Status>(kStatusWords);
      break;
    case Kind::tool_open:
      tool_open(signal);
      break;
    case Kind::tool_close:
      signal.id = text(true);
      signal.same = count();
      break;
    case Kind::tool_beat:
    case Kind::ask:
    case Kind::answer:
    case Kind::ping:
    case Kind::ack:
    case Kind::ping_failed:
      signal.id = text(true);
      break;
    case Kind::retry:
      until(signal);
      cause(signal);
      break;
    case Kind::turn_end:
      signal.count = count();
      cause(signal);
      break;
    case Kind::error:
      signal.final = *rc::gen::arbitrary<bool>();
      cause(signal);
      break;
    case Kind::state:
      signal.state = a_word<SelfState>(kSelfStateWords);
      until(signal);
      break;
    case Kind::activity:
      signal.from = a_word<ActivityFrom>(kActivityFromWords);
      break;
    case Kind::child:
      signal.child = text(false);
      signal.verdict = a_word<Verdict>(kVerdictWords);
      signal.for_parent = *rc::gen::arbitrary<bool>();
      break;
    case Kind::task:
      signal.event = a_word<TaskEvent>(kTaskEventWords);
      break;
    case Kind::inbox:
      signal.count = count();
      break;
    case Kind::parent:
      signal.parent = a_word<ParentState>(kParentStateWords);
      break;
    case Kind::intent:
      signal.want = a_word<Want>(kWantWords);
      break;
    case Kind::suspend:
    case Kind::lag:
      signal.seconds = a_time();
      break;
    case Kind::clock_step:
      signal.seconds = *rc::gen::arbitrary<bool>() ? a_time() : -a_time();
      break;
    case Kind::fleet:
      signal.count = count();
      signal.of = count();
      break;
    case Kind::beat_failed:
    case Kind::progress:
    case Kind::noise:
    case Kind::compact_start:
    case Kind::compact_end:
    case Kind::turn_start:
    case Kind::fault:
    case Kind::acted:
    case Kind::other:
      break;
  }
}

void expect_same(const Signal& a, const Signal& b) {
  RC_ASSERT(a.is == b.is);
  RC_ASSERT(a.process == b.process);
  RC_ASSERT(a.by == b.by);
  RC_ASSERT(a.status == b.status);
  RC_ASSERT(a.state == b.state);
  RC_ASSERT(a.from == b.from);
  RC_ASSERT(a.verdict == b.verdict);
  RC_ASSERT(a.event == b.event);
  RC_ASSERT(a.parent == b.parent);
  RC_ASSERT(a.want == b.want);
  RC_ASSERT(a.cause == b.cause);
  RC_ASSERT(a.background == b.background);
  RC_ASSERT(a.child_tool == b.child_tool);
  RC_ASSERT(a.final == b.final);
  RC_ASSERT(a.for_parent == b.for_parent);
  RC_ASSERT(a.life == b.life);
  RC_ASSERT(a.same == b.same);
  RC_ASSERT(a.count == b.count);
  RC_ASSERT(a.of == b.of);
  RC_ASSERT(a.pid == b.pid);
  RC_ASSERT(a.seconds == b.seconds);
  RC_ASSERT(a.limit == b.limit);
  RC_ASSERT(a.until == b.until);
  RC_ASSERT(a.exit == b.exit);
  RC_ASSERT(a.id == b.id);
  RC_ASSERT(a.tool == b.tool);
  RC_ASSERT(a.task == b.task);
  RC_ASSERT(a.child == b.child);
  RC_ASSERT(a.cause_word == b.cause_word);
}

/// Reads one line as a trace reader does.
class OneLine {
 public:
  explicit OneLine(std::string line) : size_(line.size()), bytes_(std::move(line)) {
    bytes_ += '\n';
    bytes_.append(LineSplitter::kPadding, '\0');
    found = parser_.parse({bytes_.data(), size_}, texts_, signal, at);
  }
  [[nodiscard]] std::string_view problem() const { return parser_.problem(); }

  TraceLineParser::Found found{};
  Signal signal;
  Instant at{};

 private:
  std::size_t size_;
  std::string bytes_;
  TextArena texts_;
  TraceLineParser parser_;
};

TEST(JournalLines, every_kind_of_signal_comes_back_as_it_was) {
  for (std::size_t kind = 0; kind < kKindWords.size(); ++kind) {
    const std::string what(kKindWords[kind]);
    const bool held = rc::check(what + " comes back", [&] {
      const Said said = Speaker(static_cast<Kind>(kind)).speak();
      const Instant at{a_time()};
      std::string line;
      append_signal_line(line, at, said.signal, {});
      const OneLine read(line);
      RC_ASSERT(read.found == TraceLineParser::Found::signal);
      RC_ASSERT(read.at == at);
      expect_same(read.signal, said.signal);
    });
    EXPECT_TRUE(held) << what;
  }
}

RC_GTEST_PROP(JournalLines, texts_of_any_bytes_make_a_line_that_can_be_read,
              (const std::string& id, std::uint32_t stream)) {
  Signal signal{.is = Kind::ask};
  signal.id = id;
  std::string line;
  append_signal_line(line, Instant{1s}, signal, {.stream = stream});
  const OneLine read(line);
  RC_ASSERT(read.found == TraceLineParser::Found::signal);
  if (is_utf8(id)) RC_ASSERT(read.signal.id == id);
}

// ---- A whole journal

class Text final : public ByteSource {
 public:
  explicit Text(std::string text) : text_(std::move(text)) {}
  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t size = text_.copy(into.data(), into.size(), at_);
    at_ += size;
    return size;
  }

 private:
  std::string text_;
  std::size_t at_ = 0;
};

Policy night_policy() {
  Policy policy = *built_in_policy("overnight");
  policy.name = "night";
  policy.limits.model = kNoLimit;
  policy.limits.tool = 1500ms;
  policy.ladder = {{.after = 60s, .missed = 2, .action = Action::warn}};
  policy.direct = true;
  return policy;
}

JournalHeader header_of(const Judge& judge) {
  JournalHeader header;
  header.agent = "coder \"1\"";
  header.policy = judge.policy();
  header.boot_id = "boot-1";
  header.shift = -250ms;
  header.wall = 1773002269.25;
  header.at = Instant{20s};
  header.offsets = {4096, 120};
  header.actions = 7;
  header.life = 1;
  header.judge = judge.snapshot();
  return header;
}

TEST(JournalLines, a_judge_goes_on_from_a_journal_under_the_very_same_policy) {
  Judge judge(night_policy());
  const Signal before[] = {{.is = Kind::spawn, .life = 1, .pid = 100},
                           {.is = Kind::tool_open, .id = "a", .tool = "Bash \"\xff\""}};
  judge.step(before, Instant{20s});

  SimUniverse universe;
  const auto folder = universe.machine().folders.make("/home/user/a").value();
  const auto journal = Journal::begin(*folder, header_of(judge)).value();
  const Signal after{.is = Kind::tool_close, .id = "a"};
  journal->signal(Instant{25s}, after, {.stream = 5000});
  for (const Decision& decision : judge.step({&after, 1}, Instant{25s}).decisions) {
    journal->decision(Instant{25s}, decision, 7, 1);
  }
  journal->did(Instant{26s}, Action::warn, 7, "said");
  journal->remark(Instant{26s}, "a remark");
  ASSERT_TRUE(journal->write().has_value());

  Text text(universe.disk.read("/home/user/a/journal.jsonl").value());
  TraceReader reader(text, "journal", [](std::uint64_t line, std::string_view what) {
    ADD_FAILURE() << "line " << line << ": " << what;
  });
  const auto header = reader.open();
  ASSERT_TRUE(header.has_value()) << header.error().text;
  EXPECT_EQ(header->id, "coder \"1\"");
  EXPECT_EQ(header->policy, "night");
  EXPECT_EQ(header->boot, "boot-1");
  EXPECT_EQ(header->shift, -250ms);
  EXPECT_EQ(header->wall, 1773002269.25);
  EXPECT_EQ(header->at, Instant{20s});
  EXPECT_EQ(header->offset, 4096U);
  EXPECT_EQ(header->actions, 7U);

  const auto policy = parse_policy_json(header->policy_full);
  ASSERT_TRUE(policy.has_value()) << policy.error().text;
  EXPECT_EQ(*policy, night_policy());
  auto restored = Judge::restore(*policy, header->judge);
  ASSERT_TRUE(restored.has_value()) << restored.error().text;

  Moment moment;
  ASSERT_TRUE(reader.next(moment).value());
  EXPECT_EQ(moment.at, Instant{25s});
  restored->step(moment.signals, moment.at);
  EXPECT_EQ(restored->snapshot(), judge.snapshot());
  EXPECT_FALSE(reader.next(moment).value());
  EXPECT_EQ(reader.offset(), 5000U);
}

}  // namespace
}  // namespace tend
