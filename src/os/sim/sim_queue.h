// Time of the simulated machine: three clocks, and what happens when, ordered by time and then by
// the order of asking.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/time.h"

namespace tend {

struct SimRow;

struct SimEvent {
  std::shared_ptr<SimRow> owner;  // the process that it happens to; nullptr: the test
  std::function<void()> run;
  /// Counted in time awake: a sleep of the machine puts it off.
  bool awake = false;
};

class SimQueue {
 public:
  using Key = std::pair<Instant, std::uint64_t>;

  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] Duration awake() const { return now_.time_since_epoch() - slept_; }
  [[nodiscard]] WallTime wall() const;

  Key post(Instant when, SimEvent event);
  void take_back(const Key& key) { events_.erase(key); }
  /// The next event, if there is one until then; now() has moved to it. Else now() is `until`.
  std::optional<SimEvent> next(Instant until);
  [[nodiscard]] bool empty() const { return events_.empty(); }

  void sleep(Duration time);
  void step_wall(Duration step) { wall_offset_ += step; }
  /// now() begins anew; nothing is left to happen.
  void restart(Duration down);
  void clear();

 private:
  std::map<Key, SimEvent> events_;
  std::uint64_t sequence_ = 0;
  Instant now_{std::chrono::hours{1}};
  Duration slept_{};
  Duration wall_offset_{};
};

}  // namespace tend
