// Other watchdogs, to measure ours against: what such a one sees of an agent, and its whole rule in
// a few lines. They exist for this comparison alone; rival_world.h lets them tend.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/time.h"

namespace tend::sim {

/// Who writes the heartbeat that a rule looks at.
enum class Beater : std::uint8_t {
  none,
  wrapper,  // a process beside the agent's, for as long as that one lives
  timer,    // of the agent's own process, which stands still when that one does
  hook,     // the agent, whenever it takes a turn
  answer,   // the agent, at its next turn after it was asked
  loop,     // a process of its own that never looks at the agent
};

/// What is seen of an agent. Ages are counted from its start while there is nothing newer; those
/// that come from the calendar are negative after it was set back.
struct RivalSight {
  bool alive = true;                      // its process is there, whatever it does
  bool idle = false;                      // it said that it has nothing to do
  Duration output{};                      // age of its last output
  Duration beat{};                        // age of its last heartbeat
  std::optional<Duration> child_beat{};   // the youngest one of its living children
  std::optional<Duration> parent_beat{};  // of a parent whose process is gone
};

enum class RivalWord : std::uint8_t {
  fine,
  report,   // tells somebody, and does nothing
  restart,  // ends it if it lives, and starts it again
  leave,    // it ends, because nobody is left who wants its work
};

/// How often an agent is started again before it is given up. 0: without end.
struct RivalAttempts {
  std::uint32_t in_all = 0;
  std::uint32_t without_advance = 0;  // since it last got further in its work
  std::uint32_t at_a_time = 0;        // within `time`
  Duration time{};
};

struct Rival {
  std::string_view name;
  std::string_view title;     // for a table
  std::string_view rule;      // in words
  std::string_view left_out;  // what its design has beside that; "": nothing
  RivalWord (*judge)(const RivalSight&);
  Duration looks_every{};
  Beater beater = Beater::none;
  Duration beats_every{};
  /// The age of output is that of a time which somebody else wrote down, not of the watchdog's own
  /// reading: it jumps with the calendar, and grows while the machine sleeps.
  bool output_by_calendar = false;
  /// Before it ends a silent agent it ends those of its children that have not beaten for so long.
  Duration ends_children_after = kNoLimit;
  RivalAttempts attempts{};
};

inline constexpr std::size_t kRivalCount = 8;
std::span<const Rival, kRivalCount> rivals();
/// REQUIRES that there is one of that name.
const Rival& rival_named(std::string_view name);

}  // namespace tend::sim
