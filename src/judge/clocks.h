// The ages of judging are differences, and each kind of age stops for something else: sleep stops
// them all, a pause all but the observer's own, waiting for a person or the provider stops silence.
// Each clock has its own type, so that two of them cannot be mixed up.
#pragma once

#include <algorithm>
#include <optional>

#include "base/time.h"

namespace tend {

struct AwakeClock {};    // stands still while the machine sleeps
struct ActiveClock {};   // and while the operator paused the agent
struct SilenceClock {};  // and while the agent waits for a person or the provider

using AwakeTime = std::chrono::time_point<AwakeClock, Duration>;
using ActiveTime = std::chrono::time_point<ActiveClock, Duration>;
using SilenceTime = std::chrono::time_point<SilenceClock, Duration>;

class Clocks {
 public:
  void move_to(Instant now) { now_ = now; }

  /// The machine slept for the last `n`. Time that an earlier sleep already covered, or that lies
  /// before anything was seen, is not counted twice.
  void slept(Duration n) {
    const Duration possible = std::max(Duration{}, now_ - sleep_counted_to_.value_or(now_));
    asleep_ += std::clamp(n, Duration{}, possible);
    sleep_counted_to_ = now_;
  }
  void begin() {
    if (!sleep_counted_to_) sleep_counted_to_ = now_;
  }

  void set_paused(bool paused) { switch_to(paused, awake(), paused_since_, paused_); }
  void set_held(bool held) { switch_to(held, active(), held_since_, held_); }

  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] AwakeTime awake() const { return AwakeTime{now_.time_since_epoch() - asleep_}; }
  [[nodiscard]] ActiveTime active() const {
    return ActiveTime{awake().time_since_epoch() - total(awake(), paused_since_, paused_)};
  }
  [[nodiscard]] SilenceTime silence() const {
    return SilenceTime{active().time_since_epoch() - total(active(), held_since_, held_)};
  }
  [[nodiscard]] bool paused() const { return paused_since_.has_value(); }
  [[nodiscard]] bool held() const { return held_since_.has_value(); }

  template <class Fields>
  void fields(Fields& io) {
    io("now", now_);
    io("asleep", asleep_);
    io("sleep_counted_to", sleep_counted_to_);
    io("paused", paused_);
    io("paused_since", paused_since_);
    io("held", held_);
    io("held_since", held_since_);
  }

 private:
  template <class Time>
  static Duration total(Time now, const std::optional<Time>& since, Duration before) {
    return since ? before + std::max(Duration{}, now - *since) : before;
  }
  template <class Time>
  static void switch_to(bool on, Time now, std::optional<Time>& since, Duration& before) {
    if (on == since.has_value()) return;
    if (on) {
      since = now;
    } else {
      before = total(now, since, before);
      since.reset();
    }
  }

  Instant now_{};
  Duration asleep_{};
  std::optional<Instant> sleep_counted_to_;
  Duration paused_{};
  std::optional<AwakeTime> paused_since_;
  Duration held_{};
  std::optional<ActiveTime> held_since_;
};

}  // namespace tend
