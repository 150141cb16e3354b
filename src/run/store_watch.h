// All stores of one agent of another system, looked at again and again: ages on our own clock, the
// process that they vouch for, and what is new in them as signals. Files are read at once; commands
// are run side by side, each with its deadline.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "judge/stores.h"
#include "os/machine.h"
#include "sense/adapter.h"
#include "store/foreign/foreign_agent.h"
#include "store/foreign/foreign_store.h"

namespace tend {

/// Whether a process lives and can be the one that was started then.
bool process_lives(Machine& machine, std::int64_t pid, const std::optional<WallTime>& started);

class StoreWatch {
 public:
  /// `seen` is called from the loop when a round of looking is over that had to wait for commands.
  StoreWatch(Machine& machine, ForeignAgent agent, Callback seen);
  StoreWatch(const StoreWatch&) = delete;
  StoreWatch& operator=(const StoreWatch&) = delete;

  /// Begins a round unless one is under way. True if it is over already.
  bool look();
  [[nodiscard]] Instant next() const { return next_; }
  /// Whether a round was over since this was asked last.
  bool take_round();

  /// What is new since this was called last. `now` is the time of `until` in signals.
  void tell(SignalBatch& batch, Instant now);
  /// No store is fresh, and one that might be could not be looked at: once a round.
  bool take_blindness() { return std::exchange(blind_, false); }
  /// Of a new life all is news.
  void begin_life();

  /// In the order of the sources, with ages of now.
  [[nodiscard]] std::vector<StoreSight> sights() const;
  [[nodiscard]] const StoreReading& reading(std::size_t store) const {
    return rows_.at(store).reading;
  }
  [[nodiscard]] const ForeignAgent& agent() const { return agent_; }
  [[nodiscard]] Instant began() const { return began_; }
  /// The process that the stores vouch for, proven to be there.
  [[nodiscard]] const std::optional<ProcessId>& subject() const { return subject_; }
  /// The stores name a process, and it is gone.
  [[nodiscard]] bool subject_is_gone() const { return subject_gone_ && !subject_; }
  [[nodiscard]] std::optional<SelfState> state() const;
  /// The record of the agent says that it is over.
  [[nodiscard]] bool says_ended() const;
  /// A beat that is within its limit.
  [[nodiscard]] bool is_fresh() const;

 private:
  struct Row {
    AgentStore store;
    StoreReading reading;
    Subscribed running;
    bool looked = false;                // it was read before this round
    std::optional<WallTime> last_sign;  // the newest that was taken
    Duration sign_at{};                 // the same, awake
    bool news = false;
    bool of_another = false;
    std::optional<SelfState> state;  // as far as it is believed
    Duration limit{};
  };
  /// What a store says of a process.
  struct Vouched {
    std::optional<ProcessId> process;
    bool gone = false;
  };

  void answered(Row& row, StoreReading reading);
  void end_round();
  void take_sign(Row& row, Duration awake, WallTime wall);
  void take_state(Row& row, WallTime wall);
  void find_subject();
  [[nodiscard]] Vouched vouched_by(const Row& row);
  [[nodiscard]] bool is_of_another(const Row& row, WallTime wall) const;
  [[nodiscard]] TimeContext context();
  [[nodiscard]] StoreSight sight_of(const Row& row, Duration awake) const;
  void tell_state(SignalBatch& batch, Instant now);

  Machine& machine_;
  ForeignAgent agent_;
  Callback seen_;
  std::vector<Row> rows_;
  std::size_t waiting_ = 0;  // for commands
  bool in_look_ = false;
  bool round_over_ = false;
  Duration every_{};
  Instant began_{};
  Instant next_{};
  Duration last_round_{};  // awake

  std::optional<ProcessId> subject_;
  std::optional<WallTime> subject_began_;
  bool subject_gone_ = false;

  bool beat_ = false;
  bool painted_ = false;
  bool blind_ = false;
  std::optional<SelfState> told_state_;
  std::optional<WallTime> told_quiet_;
  std::string told_status_;
};

}  // namespace tend
