// Messages of the gate, handed to an agent on the channel on which it is asked: one at a time,
// while it rests, under a lease. A message is done when the turn that it began is over; for an
// agent that shows no turns, when it was handed over. What the agent had when its life ended, or
// its turn failed, comes back to its place in the queue.
//
// A keeper may die at any moment. What it has taken is on its way until it is marked as arrived,
// with how much the agent had printed by then: its successor gives back what had not arrived, and
// takes no turn for that of the message which was over before it came. So nothing is lost, and
// handed over twice is only what arrived and could not be marked; it says so.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "act/speaker.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/judge.h"
#include "os/machine.h"
#include "run/senses.h"
#include "sense/adapter.h"
#include "store/gate.h"

namespace tend {

/// What an agent is told of a message. `whole`: it fits.
std::string words_for(const Message& message, bool whole);

class Courier {
 public:
  struct Owner {
    std::string agent;
    GateLimits limits;
    /// For people who follow.
    std::function<void(const std::string& text, bool needs_person)> say;
    /// How many messages wait for the agent now.
    std::function<void(std::int64_t waiting)> waiting;
    std::function<void()> changed;
    /// How much the agent has printed and said by now.
    std::function<HandedAt()> lengths;
  };
  Courier(Machine& machine, Folder& home, Speaker& speaker, Owner owner);

  /// What the life before had comes back.
  void begin_life(std::uint32_t life);
  /// A keeper before us may have handed something to this life: its end is waited for.
  void go_on(std::uint32_t life);
  /// The agent is over, or its life is.
  void give_back(const std::string& why);

  /// What was seen, before it is judged: turns that ended, a message that waits.
  void hear(const SignalBatch& batch, const Turns& turns);
  /// After every judgement. `may_hand`: nothing else is to be said to it first.
  void look(const Asking& asking, bool may_hand, Instant now);
  [[nodiscard]] std::optional<Instant> next() const { return next_; }
  /// What the agent has.
  [[nodiscard]] std::optional<std::int64_t> in_hand() const {
    return handed_ ? std::optional(handed_->id) : std::nullopt;
  }

 private:
  struct OpenGate {
    std::unique_ptr<Database> database;
    Gate gate;
  };
  Result<std::unique_ptr<OpenGate>> open();
  [[nodiscard]] std::string holder() const;
  void hand_next();
  Result<std::optional<Message>> take_next();
  void find_in_hand();
  Result<std::optional<Message>> taken_for(Gate& gate);
  void arrived_there(const Result<void>& said);
  void mark_arrived();
  void hear_turns();
  void let_go();
  void settle(const std::string& why_failed);
  void extend(Instant now);
  void trouble(const std::string& why);

  Machine& machine_;
  Folder& home_;
  Speaker& speaker_;
  Owner owner_;
  std::uint32_t life_ = 0;
  bool knows_ = true;  // what the keeper before us had handed over
  std::optional<Message> handed_;
  bool said_ = false;        // what is in hand has arrived
  bool is_marked_ = false;   // and that is written
  bool has_turns_ = false;   // of the agent
  bool has_looked_ = false;  // what is read from now on is news
  /// The last that ended, by where it was told.
  std::array<std::optional<TurnEnd>, 2> ended_;
  /// What is to be written about the message in hand: "" that it is done, else why it is not.
  std::optional<std::string> verdict_;
  bool look_is_due_ = true;
  std::optional<Instant> not_before_;
  std::optional<Instant> extend_at_;
  std::optional<Instant> poll_at_;
  std::optional<Instant> next_;
  std::string problem_;
};

}  // namespace tend
