// The first line of a trace: who it is about, the policy and limits to judge it by, and what a
// right judge says about it.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "judge/policy.h"
#include "judge/words.h"

namespace tend {

/// A set of the enumerators of one vocabulary.
template <class Enum>
class WordSet {
 public:
  void insert(Enum member) { bits_.set(static_cast<std::size_t>(member)); }
  [[nodiscard]] bool contains(Enum member) const {
    return bits_.test(static_cast<std::size_t>(member));
  }
  [[nodiscard]] bool empty() const { return bits_.none(); }

 private:
  std::bitset<16> bits_;
};

/// One expectation. The span includes both ends.
struct Clause {
  enum class Form : std::uint8_t {
    always,          // from, to, verdict: at every moment one of these
    sometime,        // after, by, verdict: one of these at some moment
    taken,           // after, by, action: at least one of these is taken
    never,           // from, to, never: none of these is taken
    at_most,         // from, to, at-most, action: at most so many of these together
    not_understood,  // none of the above; such a clause never holds
  };
  Form form = Form::not_understood;
  Instant begin{};
  Instant end{};
  WordSet<Verdict> verdicts;
  WordSet<Action> actions;
  std::uint64_t most = 0;
  std::string text;  // as JSON, for the report
};

struct TraceHeader {
  std::string id;
  std::string about;
  std::string policy;  // empty: not said
  std::vector<std::pair<std::string, Duration>> limits;
  std::optional<Patience> beats;
  std::vector<Clause> expect;

  // What the journal of a keeper says besides.
  std::string policy_full;    // the whole policy as JSON; empty: `policy` and `limits` are all
  std::string judge;          // the judge's snapshot, JSON that nobody looked at yet; empty: none
  std::optional<Instant> at;  // when the snapshot was taken, on the clock of the trace
  std::string boot;
  Duration shift{};           // the clock of the trace less the time since that boot
  double wall = 0;            // `at` by the calendar, in seconds since 1970
  std::uint64_t offset = 0;   // of the agent's stream: what stands before it has been judged
  std::uint64_t said = 0;     // of signals.jsonl, likewise
  std::uint64_t beaten = 0;   // the time of the last beat that was judged, as its file has it
  std::uint32_t life = 0;     // of the agent
  std::uint64_t actions = 0;  // the number that the next action gets

  std::vector<std::string> oddities;  // what was passed over, for the report
};

/// Reads a header. It fails on one of another version, or one that is no JSON.
Result<TraceHeader> parse_trace_header(std::string_view line);

}  // namespace tend
