// The questions that a keeper puts to its agent, and what becomes of the answers. When one is asked
// is decided in judge/asking.h, how it gets there in act/speaker.h, what silence means by the
// judge. The id of the open question stands in `.question`, so that `tend ack` can tell a late
// answer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "act/speaker.h"
#include "base/time.h"
#include "judge/asking.h"
#include "judge/judge.h"
#include "os/machine.h"
#include "sense/adapter.h"

namespace tend {

class Probe {
 public:
  struct Owner {
    std::string agent;
    /// A signal about a question: ping or ping-failed.
    std::function<void(Kind kind, std::string_view id)> note;
    /// For people who follow.
    std::function<void(const std::string& text, bool needs_person)> say;
    /// There is something new to judge.
    std::function<void()> changed;
  };
  Probe(Machine& machine, Folder& folder, Address address, const AskingPace& pace, Owner owner);

  /// Nothing was asked of this life yet.
  void begin_life(std::uint32_t life);
  /// The life that is being kept was begun under another keeper. Whether a question of that one
  /// ever arrived nobody knows: it is void.
  void go_on(std::uint32_t life, const Asking& asking);

  /// Takes answers to what was not asked out of the batch, before it is judged.
  void hear(SignalBatch& batch);
  /// After every judgement: asks, if it is time.
  void look(const Asking& asking, bool degraded, Instant now);
  /// A question is wanted now. Words for what came of it.
  std::string ask_now(const Asking& asking);

  [[nodiscard]] std::optional<Instant> next() const { return next_; }
  /// A question is open, or on its way, and what the agent did since is no answer to it. One that
  /// works and never answers is not waited for.
  [[nodiscard]] bool awaits_answer(const Asking& asking) const;
  [[nodiscard]] Speaker& speaker() { return speaker_; }

 private:
  void ask();
  void forget();
  void note_answers(const Asking& asking);
  void say_unanswered(const Asking& asking, bool degraded);
  void not_said(const std::string& id, const std::string& why);

  Machine& machine_;
  Folder& folder_;
  AskingPace pace_;
  Owner owner_;
  Speaker speaker_;
  std::uint32_t life_ = 0;
  std::string open_;                   // the id of the question that was asked last; "" if answered
  bool judged_ = false;                // the judge knows of it
  std::optional<Instant> asked_;       // in this life
  std::optional<Instant> not_before_;  // after one that could not be asked
  std::optional<Instant> next_;
  std::uint32_t failures_ = 0;  // in a row
  std::string problem_;
  std::string ignored_;  // the question that was said to be ignored
};

}  // namespace tend
