// Evidence in, verdict out. Judge::step() is the only door into judging: production, replay and
// simulation all come through it, so they cannot differ.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/name.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/decision.h"
#include "judge/policy.h"
#include "judge/signal.h"

namespace tend {

struct Account;
struct JudgeState;

/// What whoever asks an agent whether it still answers has to know.
struct Asking {
  bool possible = false;     // an answer can be expected: no tool, person or provider is in the way
  std::optional<Name> open;  // the last question of this life that was not answered
  bool overtaken = false;    // it was not, and something else was seen since
  bool seen = false;         // something was, in this life
  bool stirs = false;        // a weak sign at least
  bool answered = false;     // a question, in this life and since it was down
  bool has_turns = false;    // its stream says when it works and when it rests
  bool rests = false;        // its turn is over
  Duration silent{};         // since the last real sign, or since this life began
  Duration open_for{};       // since that question was asked
};

/// Judges one agent over all its lives. Pure: no clock, no I/O; the same calls give the same
/// answers. Allocates only when an agent opens more tools, children or tasks at once than before.
class Judge {
 public:
  explicit Judge(Policy policy);
  ~Judge();
  Judge(Judge&&) noexcept;
  Judge& operator=(Judge&&) noexcept;

  /// Takes everything seen at `now`, in the order it was seen, then whatever is due, and answers
  /// with what changed. A `now` before the last one counts as the last one. Call it at every
  /// signal and at every deadline it named; not inside the observer's own sleep or lag.
  Outcome step(std::span<const Signal> signals, Instant now);

  [[nodiscard]] Verdict verdict() const;
  [[nodiscard]] Phase phase() const;
  /// What this life was told of its parent last.
  [[nodiscard]] std::optional<ParentState> parent() const;
  /// What people want of it, as it was told last.
  [[nodiscard]] Want want() const;
  /// Messages that wait for it, as far as was told.
  [[nodiscard]] std::uint32_t inbox() const;
  [[nodiscard]] const Policy& policy() const;
  /// Whoever writes to it is not heard: `degrade` was decided, and `undegrade` was not since.
  [[nodiscard]] bool degraded() const;
  /// It is gone, and had given its parent up before.
  [[nodiscard]] bool died_an_orphan() const;
  /// Held for looping, also while an order keeps it from running.
  [[nodiscard]] bool holds_loop() const;
  /// `now` as for step(); the ages are of then.
  [[nodiscard]] Asking asking(Instant now) const;
  /// Resumes since the last refill, and over all lives.
  [[nodiscard]] std::uint32_t resumes() const;
  [[nodiscard]] std::uint32_t all_resumes() const;
  /// The deadline that the last step named, also of a judge that was restored.
  [[nodiscard]] std::optional<Instant> next() const;

  /// Makes a restored judge look at everything again: its deadline is now, where it stands. For a
  /// policy that is not the one the snapshot was written under, which may want other deadlines.
  void look_again();
  /// The same, for a policy that takes effect with the next step behind that: nobody who was not in
  /// doubt before is suspect in the second that it does.
  void take_on_policy();

  /// The whole state as one line of JSON, and a judge that goes on from it exactly like the one
  /// that wrote it. A snapshot of a newer version, or one that is damaged, is refused.
  [[nodiscard]] std::string snapshot() const;
  static Result<Judge> restore(Policy policy, std::string_view snapshot);

  /// Memory held by this judge, for the benchmark.
  [[nodiscard]] std::size_t bytes() const;

 private:
  friend Account account(const Judge& judge, Instant now);  // account.h

  std::unique_ptr<JudgeState> state_;
};

}  // namespace tend
