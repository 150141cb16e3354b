// An agent's work on a task, for its keeper: claimed before the first life, beaten while the agent
// gets on with it, closed when the work is done and given back at any other end. Nothing that goes
// wrong here ends the agent: what fails is said once and tried again, a claim that is lost is told
// and let go.
//
//   unclaimed -> held -> closed       its work is done
//       ^         '---> unclaimed     it ended otherwise, or is held back for good
//       '---------'---> lost          somebody else has it: told once, nothing is asked any more
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/time.h"
#include "judge/patrol.h"
#include "judge/words.h"
#include "os/machine.h"
#include "run/work_items.h"
#include "store/heartbeat.h"
#include "store/task_claim.h"

namespace tend {

class TaskWork {
 public:
  struct Owner {
    Folder& folder;  // the agent's
    std::string agent;
    std::string task;
    PatrolPolicy patrol;  // how soon its beats are missed, by the task's context
    /// For people who follow.
    std::function<void(const std::string& text, bool needs_person)> say;
    std::function<void(TaskEvent)> tell_judge;
    /// Its wish to be woken may be another now.
    std::function<void()> changed;
  };
  TaskWork(Machine& machine, std::unique_ptr<WorkItems> items, Owner owner);

  /// Claims the task before the first life. `begun` hears why it may not begin, or "": also if
  /// nobody can be asked, for then the claim is tried again while it works. Comes through the loop.
  void begin(std::function<void(const std::string& why_not)> begun);
  /// A life that is not the first began, or it stays for its children again: a task that was given
  /// back, or taken from it while it was gone, is claimed again if nobody else has it, as soon as
  /// somebody can be asked.
  void goes_on();
  /// After every look. `at_work`: it gets on, or what it waits for has a name.
  void judged(bool at_work, Instant now);
  /// Whoever held it goes on no more, though its keeper stays: somebody else may have the task.
  void give_back(const std::string& why, std::function<void(const std::string& result)> done);

  /// Its work is over; not `done`, it is given back. `settled` comes once, through the loop.
  void end(bool done, std::string why, std::function<void()> settled);
  /// Nothing is left to do for the end.
  [[nodiscard]] bool is_settled() const { return settled_ || is_out_of_hand(); }
  /// The end has to wait for something else: what was given up is tried once more.
  void try_again() { settled_ = settled_ && !given_up_; }

  [[nodiscard]] std::optional<Instant> next() const;

 private:
  enum class State : std::uint8_t { unclaimed, held, given_back, lost, closed };

  [[nodiscard]] bool is_out_of_hand() const {
    return state_ == State::lost || state_ == State::closed;
  }
  [[nodiscard]] Worker worker() const;
  void claim();
  void look_whether_it_was_taken();
  void claim_to_close();
  void on_claim(const Result<TaskAnswer>& answer);
  void beat();
  void on_beat(const Result<TaskAnswer>& answer);
  void hold(const Task& task);
  [[nodiscard]] bool is_own_claim(const TaskAnswer& answer) const;
  void take_up(const Task& task);
  void lose(const TaskAnswer& answer);
  void note_closed();
  void remember(TaskClaim::State state);
  void failed(const Error& error);
  void succeeded();
  void beat_later(TaskContext context);
  void keep_all_the_same(const std::string& why);

  void close();
  void release();
  void say_last_words(const Task& task);
  void let_go();
  void end_failed(const Error& error);
  void settle();

  Machine& machine_;
  std::unique_ptr<WorkItems> items_;
  Owner owner_;

  State state_ = State::unclaimed;
  std::optional<std::int64_t> fence_;
  bool just_claimed_ = false;           // since the last life began
  bool may_be_taken_ = false;           // while nobody looked, and nobody could be asked yet
  std::optional<TaskClaim> unwritten_;  // what could not be remembered yet
  Instant due_{};                       // the next claim or beat
  Subscribed asked_;                    // one question at a time
  std::string problem_;                 // the last that was said
  std::uint32_t failures_ = 0;          // in a row
  std::function<void(const std::string&)> begun_;
  std::function<void(const std::string&)> giving_back_;

  struct Ending {
    bool done = false;
    std::string why;
    std::function<void()> settled;
    std::uint32_t tries = 0;
  };
  std::optional<Ending> ending_;
  bool settled_ = false;
  bool given_up_ = false;
};

}  // namespace tend
