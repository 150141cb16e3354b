// Any bytes are refused as a snapshot in one line, or they are a judge: one that answers signals,
// names deadlines in the future and writes a snapshot again.
//
// An input that opens with a brace is the snapshot itself. Any other one edits a real snapshot: the
// first byte says how far a life had gone, then each two bytes replace one value. So the fuzzer
// goes deep whatever fields the format has.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "judge/judge.h"

namespace {

using namespace std::chrono_literals;
using tend::Instant;
using tend::Kind;
using tend::Signal;

/// A life that fills every part of a judge's state.
constexpr std::array kLife{
    Signal{.is = Kind::spawn, .pid = 100},
    Signal{.is = Kind::process, .process = tend::ProcessState::running},
    Signal{.is = Kind::beat, .by = tend::BeatBy::agent},
    Signal{.is = Kind::tool_open, .limit = 600s, .id = "a", .tool = "Bash"},
    Signal{.is = Kind::tool_open, .background = true, .id = "b", .tool = "Read"},
    Signal{.is = Kind::child, .verdict = tend::Verdict::working, .child = "c1"},
    Signal{.is = Kind::task, .event = tend::TaskEvent::claim, .task = "w1"},
    Signal{.is = Kind::ping, .id = "p1"},
    Signal{.is = Kind::tool_close, .same = 3, .id = "a"},
    Signal{.is = Kind::error, .final = true, .cause_word = "crash"},
    Signal{.is = Kind::fleet, .count = 3, .of = 4},
    Signal{.is = Kind::suspend, .seconds = 60s},
    Signal{.is = Kind::child, .verdict = tend::Verdict::finished, .child = "c1"},
    Signal{.is = Kind::ask, .id = "q"},
    Signal{.is = Kind::turn_end, .cause = tend::Cause::rate, .count = 1, .cause_word = "rate"},
    Signal{.is = Kind::state, .state = tend::SelfState::stuck, .until = Instant{9000s}},
    Signal{.is = Kind::parent, .parent = tend::ParentState::dead},
    Signal{.is = Kind::status, .status = tend::Status::completed},
    Signal{.is = Kind::turn_start},
    Signal{.is = Kind::intent, .want = tend::Want::pause},
    Signal{.is = Kind::intent, .want = tend::Want::run},
    Signal{.is = Kind::process, .process = tend::ProcessState::gone},
    Signal{.is = Kind::task, .event = tend::TaskEvent::advance, .task = "w1"},
    Signal{.is = Kind::spawn, .pid = 101},
    Signal{.is = Kind::ack, .id = "p1"},
    Signal{.is = Kind::progress},
};
constexpr std::size_t kDeadlinesBetween = 3;

/// Steps a judge through a life, at growing times and at the deadlines in between.
void live(tend::Judge& judge, std::span<const Signal> life) {
  Instant now{};
  for (const Signal& signal : life) {
    now += 7s;
    tend::Outcome outcome = judge.step({&signal, 1}, now);
    for (std::size_t i = 0; i < kDeadlinesBetween; ++i) {
      for (const tend::Decision& decision : outcome.decisions) {
        CHECK(!decision.because().empty());
        for (const tend::Reason& reason : decision.because()) CHECK(!describe(reason).empty());
      }
      CHECK(!outcome.next || *outcome.next > now);
      if (!outcome.next) break;
      now = *outcome.next;
      outcome = judge.step({}, now);
    }
  }
}

constexpr std::array<std::string_view, 16> kValues{
    "0",    "1",    "-1", "2",  "1000000", "-1000000",   "94608000000000",      "189216000000000",
    "null", "true", "[]", "{}", "\"x\"",   "4294967295", "9223372036854775807", "-94608000000000"};

/// Replaces the value after the n-th colon, counted around, if it is no object or list.
void replace_value(std::string& text, std::size_t n, std::string_view value) {
  const auto colons = static_cast<std::size_t>(std::ranges::count(text, ':'));
  std::size_t at = text.find(':');
  for (n %= colons; n > 0; --n) at = text.find(':', at + 1);
  ++at;
  if (text[at] == '{' || (text[at] == '[' && text[at + 1] != ']')) return;
  text.replace(at, text.find_first_of(",}", at) - at, value);
}

std::string edited_snapshot(std::span<const std::uint8_t> edits) {
  tend::Judge judge(*tend::built_in_policy("agent"));
  live(judge, std::span(kLife).first(edits.front() % (kLife.size() + 1)));
  std::string text = judge.snapshot();
  for (edits = edits.subspan(1); edits.size() >= 2; edits = edits.subspan(2)) {
    const std::size_t n =
        edits[0] + (edits[1] < 128 ? 0U : 256U);  // there are more than 256 values
    replace_value(text, n, kValues[edits[1] % kValues.size()]);
  }
  return text;
}

}  // namespace

// libFuzzer declares it nowhere.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::span bytes(data, size);
  const std::string text =
      data[0] == '{' ? std::string(bytes.begin(), bytes.end()) : edited_snapshot(bytes);
  auto judge = tend::Judge::restore(*tend::built_in_policy("agent"), text);
  if (!judge) {
    CHECK(!judge.error().text.empty());
    CHECK(judge.error().text.find('\n') == std::string::npos);
    return 0;
  }
  const std::string written = judge->snapshot();
  auto again = tend::Judge::restore(judge->policy(), written);
  CHECK(again.has_value());
  CHECK(again->snapshot() == written);
  live(*judge, kLife);
  CHECK(!judge->snapshot().empty());
  return 0;
}
