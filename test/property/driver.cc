// See driver.h.
#include "driver.h"

#include <rapidcheck.h>

#include <algorithm>
#include <optional>

#include "base/duration.h"
#include "judge/policy.h"

namespace tend {

namespace {

using namespace std::chrono_literals;

/// Changes no fact, and unlike an empty step it is never skipped.
constexpr Signal kFleetIsWell{.is = Kind::fleet, .count = 0, .of = 9};

class Driver {
 public:
  Driver(const Trace& trace, const Manner& manner)
      : manner_(manner), judge_(*built_in_policy(trace.policy)), extra_(manner.extra_looks) {
    std::ranges::sort(extra_);
  }

  void run(const Trace& trace) {
    const std::vector<Line> all = lines(trace);
    std::vector<Signal> signals;
    for (std::size_t i = 0; i < all.size();) {
      const Instant at = all[i].at;
      Duration absent = 1ms;
      signals.clear();
      for (; i < all.size() && all[i].at == at; ++i) {
        signals.push_back(all[i].signal);
        absent = std::max(absent, away(all[i].signal));
      }
      look_until(at - absent);
      std::erase_if(extra_, [&](Instant extra) { return extra < at; });
      step(signals, at);
    }
    look_until(end_of(trace));
  }

  std::vector<Decided> decided;

 private:
  /// Steps at every deadline and every extra look up to `last`, itself included.
  void look_until(Instant last) {
    while (true) {
      std::optional<Instant> at = next_;
      if (!extra_.empty() && (!at || extra_.front() < *at)) at = extra_.front();
      if (!at || *at > last) return;
      step({}, *at);
      if (std::erase_if(extra_, [&](Instant extra) { return extra <= *at; }) > 0) {
        step({&kFleetIsWell, 1}, *at);
      }
    }
  }

  void step(std::span<const Signal> signals, Instant now) {
    if (manner_.through_snapshots) pass_through_snapshot();
    const Outcome outcome = judge_.step(signals, now);
    next_ = outcome.next;
    RC_ASSERT((!next_ || *next_ > now));
    for (const Decision& decision : outcome.decisions) decided.emplace_back(now, decision);
    if (manner_.watch) manner_.watch({now, signals, outcome, judge_});
  }

  void pass_through_snapshot() {
    const std::string before = judge_.snapshot();
    Result<Judge> restored = Judge::restore(judge_.policy(), before);
    RC_ASSERT(restored.has_value());
    RC_ASSERT(restored->snapshot() == before);
    judge_ = std::move(*restored);
  }

  const Manner& manner_;
  Judge judge_;
  std::vector<Instant> extra_;
  std::optional<Instant> next_;
};

}  // namespace

std::vector<Decided> judge_trace(const Trace& trace, const Manner& manner) {
  Driver driver(trace, manner);
  driver.run(trace);
  return std::move(driver.decided);
}

std::string describe(const Decided& decided, Instant start) {
  const Decision& d = decided.decision;
  std::string text = "t=" + format_seconds(decided.at - start) + " ";
  text += decided.is_verdict() ? "verdict" : word(d.action);
  if (!d.task.empty()) text.append(" ").append(d.task.shown());
  text.append(" under ").append(word(d.verdict)).append(" in ").append(word(d.phase)).append(":");
  for (const Reason& reason : d.because()) text.append(" ").append(describe(reason)).append(";");
  return text;
}

std::string difference(const Trace& a, const std::vector<Decided>& decided_a, const Trace& b,
                       const std::vector<Decided>& decided_b) {
  const auto words = [](const Trace& trace, const std::vector<Decided>& decided, std::size_t i) {
    return i < decided.size() ? describe(decided[i], Instant{trace.start}) : "nothing more";
  };
  const std::size_t most = std::max(decided_a.size(), decided_b.size());
  for (std::size_t i = 0; i < most; ++i) {
    const std::string one = words(a, decided_a, i);
    const std::string two = words(b, decided_b, i);
    if (one != two) return std::string("first: ").append(one).append(" | then: ").append(two);
  }
  return "";
}

}  // namespace tend
