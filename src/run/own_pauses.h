// What happened to the observer itself: a sleep of the machine, a step of its calendar, a time in
// which this process did not run. Nobody is judged for any of them.
#pragma once

#include <optional>

#include "base/time.h"
#include "os/clock.h"
#include "sense/adapter.h"

namespace tend {

class OwnPauses {
 public:
  /// Being late by less than this is the life of a busy machine.
  static constexpr Duration kLate = std::chrono::seconds{1};

  explicit OwnPauses(Clock& clock);

  /// The loop was asked to wake us at this time at the latest.
  void expect(std::optional<Instant> wake) { expected_ = wake; }

  /// Looks at the clocks; appends `suspend`, `lag` and `clock-step` where they are due. Gives the
  /// time of the look. If we came late, one of the lines reaches back over the time expected.
  Instant look(SignalBatch& batch);

  /// Whether a look now would find that the machine slept or that we did not run.
  [[nodiscard]] bool have_been() const;

 private:
  struct Found {
    Duration slept{};
    Duration behind{};  // what we were expected
    bool is_late = false;
  };
  [[nodiscard]] Found compare(Instant now, Duration awake) const;

  Clock& clock_;
  std::optional<Instant> expected_;
  Instant now_;
  Duration awake_;
  WallTime wall_;
};

}  // namespace tend
