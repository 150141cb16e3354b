// All stores of one agent of another system, looked at again and again: ages on our own clock, the
// process that they vouch for, and what is new in them as signals. Files are read at once; commands
// are run side by side, each with its deadline. One that takes longer than a round is not run a
// second time beside itself, and holds up nobody else: the rounds go on without it.
//
// What a store says of a process is worth as much as the store: a number with its start time is
// proof, a number alone or the pane of a terminal is a hint, and what is left behind by a fresher
// store is nothing.
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

  /// Begins a round. True if it is over already.
  bool look();
  /// When the next one is due: `seen` is called in between, as answers come.
  [[nodiscard]] Instant next() const { return next_; }
  /// Commands that were found to take longer than a round, since this was asked last: in words.
  std::vector<std::string> take_slow() { return std::exchange(slow_, {}); }
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
  /// The process that the stores vouch for; it is there.
  [[nodiscard]] const std::optional<ProcessId>& subject() const { return subject_; }
  /// And it is the one that was meant: its start is as a store said. A number alone proves nothing.
  [[nodiscard]] bool is_proven() const { return subject_ && proven_; }
  /// The stores name a process, and it is gone.
  [[nodiscard]] bool subject_is_gone() const { return subject_gone_ && !subject_; }
  /// No store names a process but those that are left behind, and one of them names this one; or
  /// any, if that is 0.
  [[nodiscard]] bool has_left(std::int64_t pid) const;
  [[nodiscard]] std::optional<SelfState> state() const;
  /// What was told before, by an observer in whose place this one is.
  void go_on(SelfState told) { told_state_ = told; }
  /// The record of the agent says that it is over.
  [[nodiscard]] bool says_ended() const;
  /// A beat that is within its limit.
  [[nodiscard]] bool is_fresh() const;

 private:
  struct Row {
    AgentStore store;
    StoreReading reading;
    Subscribed running;
    std::uint64_t asked_in = 0;         // the round in which its command was started; 0: it is not
    bool is_slow = false;               // it took longer than a round
    bool looked = false;                // it was read before this round
    Duration read_before{};             // awake, when that began
    Duration read_at{};                 // when the last reading began
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
    bool proven = false;
    bool gone = false;
  };

  void ask(Row& row);
  void answered(Row& row, StoreReading reading);
  void note_slow(Row& row);
  void end_round();
  void take_sign(Row& row, Duration awake, WallTime wall);
  void take_state(Row& row, WallTime wall);
  void find_subject();
  [[nodiscard]] Vouched vouched_by(const Row& row);
  [[nodiscard]] bool is_of_another(const Row& row, WallTime since) const;
  [[nodiscard]] WallTime booted(WallTime wall) const;
  [[nodiscard]] TimeContext context();
  [[nodiscard]] StoreSight sight_of(const Row& row, Duration awake) const;
  void tell_state(SignalBatch& batch, Instant now);
  [[nodiscard]] bool knows_words() const;
  [[nodiscard]] std::vector<StoreSight> others_of(std::size_t row,
                                                  const std::vector<StoreSight>& all) const;
  [[nodiscard]] ProcessLives lives();

  Machine& machine_;
  ForeignAgent agent_;
  Callback seen_;
  std::vector<Row> rows_;
  std::uint64_t round_ = 0;
  std::size_t waiting_ = 0;  // for commands of this round
  bool in_look_ = false;
  bool round_over_ = false;
  Duration every_{};
  Instant began_{};
  Instant next_{};

  std::optional<ProcessId> subject_;
  bool proven_ = false;
  std::optional<WallTime> subject_began_;
  bool subject_gone_ = false;
  std::vector<std::int64_t> left_;  // processes that only those name that are left behind

  bool beat_ = false;
  bool painted_ = false;
  bool blind_ = false;
  std::vector<std::string> slow_;
  std::optional<SelfState> told_state_;
  std::optional<WallTime> told_quiet_;
  std::string told_status_;
};

}  // namespace tend
