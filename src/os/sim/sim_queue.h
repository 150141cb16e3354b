// Time of the simulated machine: three clocks, and what happens when, ordered by time and then by
// the order of asking.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/time.h"

namespace tend {

struct SimHandle;
struct SimRow;

/// Where an event is in the queue. Stale once it has happened, which is harmless.
struct SimTicket {
  std::size_t slot = 0;
  std::uint64_t sequence = 0;
};

struct SimEvent {
  std::shared_ptr<SimRow> owner;  // the process that it happens to; nullptr: the test or `program`
  std::function<void()> run;
  std::shared_ptr<SimHandle> program;  // that it is for; nullptr: whatever the process runs
  SimTicket* ticket = nullptr;         // of whoever may take it back, who does so before it goes
  /// Counted in time awake: a sleep of the machine puts it off.
  bool awake = false;
};

class SimQueue {
 public:
  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] Duration awake() const { return now_.time_since_epoch() - slept_; }
  [[nodiscard]] WallTime wall() const;

  /// An empty event at that time, to be filled in before anything else is asked of the queue.
  /// `ticket`: of whoever may take it back, or nullptr.
  SimEvent& post(Instant when, SimTicket* ticket = nullptr);
  /// False if it is not here any more.
  bool take_back(const SimTicket& ticket);
  /// Takes the next event, if there is one until then, and now() has moved to it. Else now() is
  /// `until`, and it is false. REQUIRES an empty event.
  bool next(Instant until, SimEvent& event);

  /// Time passes and nothing happens in it: what comes due meanwhile is late.
  void pass(Duration time) { now_ += time; }
  void sleep(Duration time);
  void step_wall(Duration step) { wall_offset_ += step; }
  /// now() begins anew; nothing is left to happen.
  void restart(Duration down);
  void clear();

 private:
  /// When the event in a slot happens.
  struct Entry {
    Instant when{};
    std::uint64_t sequence = 0;
    std::size_t slot = 0;
    [[nodiscard]] bool is_after(const Entry& other) const {
      return when != other.when ? when > other.when : sequence > other.sequence;
    }
  };
  struct Slot {
    SimEvent event;
    Instant when{};
    std::uint64_t sequence = 0;  // 0: free
  };

  /// Where an entry stands in the agenda, or would.
  [[nodiscard]] std::vector<Entry>::iterator place_of(const Entry& entry);
  void take(std::size_t slot, SimEvent& event);

  std::vector<Entry> agenda_;  // what happens next is the last
  std::vector<Slot> slots_;
  std::vector<std::size_t> free_;
  std::uint64_t sequence_ = 0;
  Instant now_{std::chrono::hours{1}};
  Duration slept_{};
  Duration wall_offset_{};
};

}  // namespace tend
