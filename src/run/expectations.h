// Checks what a trace's header expects against what the judge decides, as it decides it: nothing of
// the history is kept but the verdict in force.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "judge/decision.h"
#include "judge/words.h"
#include "sense/trace_header.h"

namespace tend {

struct FailedClause {
  std::string clause;  // as JSON
  std::string saw;
};

class Expectations {
 public:
  /// `before` is the verdict until the first one that is taken.
  explicit Expectations(std::vector<Clause> clauses, Verdict before = Verdict::unknown);

  /// The latest time that a clause names.
  [[nodiscard]] Instant last() const { return last_; }

  /// Takes the decisions in the order of their times. The verdict of a moment is the last one that
  /// was reached in it.
  void take(Instant at, const Decision& decision);

  /// Closes the last moment. No take() may follow.
  std::vector<FailedClause> finish();

  [[nodiscard]] std::size_t size() const { return checks_.size(); }

 private:
  struct Check {
    Clause clause;
    std::uint64_t count = 0;             // actions, or verdicts, that match
    std::optional<Instant> broken;       // when it was first seen not to hold
    Verdict verdict = Verdict::unknown;  // seen then
    Action action = Action::warn;        // seen then
    WordSet<Verdict> seen;
  };

  void in_force(Instant begin, Instant end);
  static void see_verdict(Check& check, Instant at, Verdict verdict);
  static void see_action(Check& check, Instant at, Action action);
  static bool holds(const Check& check);
  static std::string saw(const Check& check);

  std::vector<Check> checks_;
  Instant last_{};
  Verdict verdict_;
  Instant since_ = Instant::min();
};

}  // namespace tend
