// The keepers of a home, looked after in turn by its patrol: where one died a new one is put on,
// one that hangs is ended first. Where many hang at once the cause is one and not theirs: nobody is
// ended. Agents are never judged here, and never ended.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "os/machine.h"
#include "run/hire.h"
#include "run/keeper_watch.h"
#include "run/roster.h"
#include "store/patrol_file.h"

namespace tend {

class KeeperRounds {
 public:
  static constexpr std::size_t kMostAtOnce = 10;  // that are put on in one round
  static constexpr std::size_t kManySilent = 3;

  struct About {
    std::string agent;
    std::string session;
    std::string folder;
    std::string text;
  };
  struct Found {
    std::vector<About> done;                   // in this round
    std::vector<About> troubled;               // no keeper stays with them, or none can be put on
    std::vector<std::string> of_earlier_boot;  // names; left to `tend recover`
    std::size_t silent = 0;                    // keepers that hang
    std::size_t of = 0;
    bool held_back = false;  // so many hang that nobody was ended
    bool again_soon = false;
  };

  KeeperRounds(Machine& machine, KeeperProgram program)
      : machine_(machine), program_(std::move(program)) {}

  /// Who is not over and once had a keeper. A child that was never started is its parent's to
  /// start.
  static bool needs_keeper(const Entry& agent);
  /// Whom to look after from now on, and what was seen before of those that are new.
  void know(std::span<const Entry> agents, const SeenPulses& before);
  Found look();
  /// What was seen of them.
  [[nodiscard]] SeenPulses pulses() const;

 private:
  struct Ward {
    std::string agent;
    std::string session;
    KeeperWatch watch;
    std::string trouble;  // "" if there is none
  };

  /// False if it needs no keeper any more.
  bool look_at(const std::string& path, Ward& ward, Found& found);
  bool put_keeper_on(Folder& folder, Ward& ward, Found& found);
  void end_silent(Found& found);

  Machine& machine_;
  KeeperProgram program_;
  std::map<std::string, Ward> wards_;  // by folder
  std::vector<std::string> silent_;    // folders, in this round
};

}  // namespace tend
