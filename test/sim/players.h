// Worlds in processes of their own: one that crashes or never ends is a finding like any other, and
// all cores play at once.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "os/linux/fd.h"
#include "scenario.h"
#include "tally.h"

namespace tend::sim {

/// What a world may use of a processor.
inline constexpr std::chrono::seconds kMostProcessorTime{120};

/// Plays a scenario here and now. An exception is a violation of "no exception", but std::bad_alloc
/// is thrown on: that is the machine's.
Tally play_here(const Scenario& scenario);
/// The same, with a line for everything that happens.
Tally play_traced(const Scenario& scenario, const std::function<void(const std::string&)>& trace);

/// What the machine that plays has too little of: nothing is known of the world that it played.
class MachineTrouble : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using PlayWorld = std::function<Tally(const Scenario&)>;

struct Played {
  std::uint64_t seed = 0;
  Tally tally;
};

class Players {
 public:
  explicit Players(std::chrono::seconds processor_time = kMostProcessorTime)
      : processor_time_(processor_time) {}
  /// Those who still play are ended.
  ~Players();
  Players(const Players&) = delete;
  Players& operator=(const Players&) = delete;

  [[nodiscard]] std::size_t playing() const { return players_.size(); }
  /// Begins in a process of its own, or throws MachineTrouble. `play` is play_here(), or another
  /// way to play a world.
  void begin(const Scenario& scenario, const PlayWorld& play = play_here);
  /// Waits until one world has ended. Requires that there is one. Throws MachineTrouble if that one
  /// had too little memory.
  Played await_one() { return *await_one_or(-1); }
  /// The same, but nullopt as soon as the descriptor can be read; -1: never.
  std::optional<Played> await_one_or(int break_off);

 private:
  struct Player {
    std::uint64_t seed = 0;
    pid_t pid = 0;
    Fd result;
    std::string text;
  };

  Played end(Player player);

  std::chrono::seconds processor_time_;
  std::vector<Player> players_;
};

/// SIGINT and SIGTERM end nobody any more, nor any player that begins from then on, unless they
/// were ignored: the descriptor can be read as soon as one came. To be broken off, a swarm listens
/// to it.
Fd catch_interrupts();
/// Which one came; 0: none did.
int interrupt_in(const Fd& caught);

/// One world, and nothing else meanwhile.
Tally play_apart(const Scenario& scenario);

}  // namespace tend::sim
