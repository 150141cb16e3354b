// A program that runs only while it leads: waits its turn, is granted the lease, starts the program
// at a gate, writes down whom it started, and lets it through; renews; ends it in time if it cannot
// renew; and gives the lease back when nothing of the program is left.
//
// What it does not do itself, because it was killed or stopped, its successor does: it ends all
// that is written down or carries the mark before it takes the lease.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "act/ending.h"
#include "base/time.h"
#include "os/machine.h"
#include "run/lease_desk.h"
#include "store/lease_queue.h"

namespace tend {

/// By which each who waits stays behind the one before it: one at the head that is stopped costs
/// the others no more than that.
inline constexpr Duration kLeaseTurn = std::chrono::milliseconds{500};
/// The exit code of a program that was ended because its lease was lost.
inline constexpr int kExitLeaseLost = 75;

class LeaseRunner {
 public:
  struct Settings {
    LeaseRequest request;  // its holder is this very process
    bool waits = true;
    std::vector<std::string> command;
    std::vector<std::string> environment;
    std::string working_folder;
    /// Something that people want to know: it waits, was granted it, lost it.
    std::function<void(const std::string&)> say;
    /// It goes from hand to hand, and we took it once more; and no more, once for each time.
    std::function<void(const LeaseRecord&)> flaps;
    std::function<void()> calm;
    /// It waits for its turn from now on, or not any more.
    std::function<void(bool waits)> queued;
  };
  struct End {
    enum class How : std::uint8_t {
      ran,          // to its end; `exit_code` is the program's
      lost,         // it was ended because the lease was lost
      refused,      // it was not granted, and never ran
      not_started,  // the program cannot be run
      broken_off,   // by an order, while it waited
    };
    How how = How::ran;
    int exit_code = 0;
    std::string why;  // one line for people; "" if all is well
    LeaseRefusal refusal = LeaseRefusal::failed;
    std::uint64_t fence = 0;  // 0: it was never granted
  };

  /// Begins at once; `done` is called once, through the loop.
  LeaseRunner(LeaseDesk& desk, Settings settings, std::function<void(const End&)> done);
  LeaseRunner(const LeaseRunner&) = delete;
  LeaseRunner& operator=(const LeaseRunner&) = delete;

 private:
  enum class Stage : std::uint8_t { waiting, leading, closing, ended };

  // Waiting.
  void try_it();
  void answered(const LeaseAnswer& answer);
  void wait_for(Duration at_most, const std::optional<LeaseRecord>& held);
  void look_soon();
  void look();
  void stand_in_line();
  void say_held_back(const LeaseLook& seen);
  void note_queued(bool waits);
  void leave_line();

  // Leading.
  void start();
  [[nodiscard]] Launch launch_of(const std::string& group) const;
  void begin_again(const std::string& why);
  LeaseAnswer ask_to_renew();
  void renew();
  void note_calm(const LeaseGrant& grant);
  void renew_in(Duration wait);
  void program_ended();
  void end_program(EndOrder order, bool lost, std::string why);
  void lose(const std::string& why, bool at_once);
  void all_ended(const Ended& ended);
  void give_back();
  void drop_group();
  void order(Order order);

  [[nodiscard]] Duration age() const;
  void say(const std::string& text) const;
  void finish(const End& end);

  LeaseDesk& desk_;
  Machine& machine_;
  Settings settings_;
  std::function<void(const End&)> done_;
  Stage stage_ = Stage::waiting;

  std::unique_ptr<LeaseTicket> ticket_;
  bool told_waiting_ = false;
  bool is_queued_ = false;             // that was said
  std::uint64_t held_back_ = 0;        // the fence of which that was said
  std::uint64_t free_version_ = 0;     // that was seen free ...
  std::optional<Instant> free_since_;  // ... from then on
  std::unique_ptr<Process> holder_;
  Subscribed holder_exit_;
  Subscribed changes_;
  Subscribed timer_;
  Subscribed soon_;
  Instant not_before_{};  // it is tried again
  Subscribed asking_;

  LeaseRecord record_;  // of our grant, as it was last confirmed
  std::string renew_problem_;
  bool is_calm_ = false;  // that was said
  LeaseRun run_;
  std::unique_ptr<Process> program_;
  Subscribed program_exit_;
  std::unique_ptr<Ending> ending_;
  bool lost_ = false;
  std::string why_;
  std::vector<Subscribed> orders_;
};

}  // namespace tend
