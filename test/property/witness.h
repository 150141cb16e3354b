// A second, simple-minded reader of a trace, which shares no code with the judge: it keeps the few
// facts that the properties need, in the contract's own words and with every doubt in the judge's
// favour. What it rules out is surely wrong.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "judge/policy.h"
#include "judge/signal.h"
#include "trace.h"

namespace tend {

class Witness {
 public:
  void see(const Signal& signal, Instant at);

  [[nodiscard]] std::uint32_t life() const { return life_; }
  [[nodiscard]] bool gone() const {
    return probe == ProcessState::gone || probe == ProcessState::zombie ||
           probe == ProcessState::reused;
  }
  [[nodiscard]] bool paused() const { return want == Want::pause; }

  [[nodiscard]] bool parent_is_dead() const { return parent_died_.has_value(); }

  /// The parent is dead, and has been for the limit and the grace of an orphan.
  [[nodiscard]] bool orphaned_past_grace(const Limits& limits, Instant now) const;

  /// How many planes can at most agree that the agent is stalled.
  [[nodiscard]] int planes_at_most(Phase phase, const Limits& limits, Instant now) const;

  // The agent over all its lives
  Want want = Want::run;
  std::optional<Instant> unfit_at;  // the last sleep, fault or lag over 30 s
  std::optional<Instant> fleet_at;  // the last line of a silent fleet
  std::uint32_t refills = 0;

  // This life
  std::optional<ProcessState> probe;
  std::optional<Status> record;
  std::optional<SelfState> state;

 private:
  void begin_life(const Signal& signal);
  void see_others(const Signal& signal, Instant at);
  void see_probe(const Signal& signal, Instant at);
  [[nodiscard]] bool is_surely_real(const Signal& signal) const;
  [[nodiscard]] bool stream_agrees(Phase phase, const Limits& limits, Instant now) const;
  [[nodiscard]] Duration least_limit(Phase phase, const Limits& limits) const;

  std::uint32_t life_ = 0;
  Instant wanted_{};

  bool stream_seen_ = false;
  bool circled_ = false;      // an identical call for the third time
  bool final_error_ = false;  // since the last real sign
  std::optional<Instant> last_real_;
  std::optional<Instant> last_stream_;
  std::optional<Duration> shortest_tool_;
  std::optional<Instant> beat_;
  bool beat_failed_ = false;
  std::vector<std::pair<std::string_view, Instant>> pings_;
  std::map<std::string_view, Verdict> children_;
  std::optional<Instant> parent_died_;
};

}  // namespace tend
