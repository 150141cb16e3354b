// All agents of a home as a person should see them: who needs you, who works, who waits, who is
// over. Every surface that shows agents asks here, so that no two of them disagree.
//
// A heartbeat is a mirror: it is believed only while a keeper holds the agent's lock, and the
// journal, which the keeper writes first, is believed before it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/name.h"
#include "base/result.h"
#include "base/time.h"
#include "judge/words.h"
#include "os/machine.h"
#include "store/heartbeat.h"
#include "store/home.h"
#include "store/tasks.h"

namespace tend {

enum class KeeperIs : std::uint8_t {
  alive,
  hung,  // holds its lock, and has shown no pulse for too long
  gone,
};
inline constexpr std::array<std::string_view, 3> kKeeperWords{"alive", "hung", "gone"};

/// What an agent wants of a person; every one is in exactly one group.
enum class Group : std::uint8_t { needs_you, working, waiting, done };
inline constexpr std::array<std::string_view, 4> kGroupWords{"needs_you", "working", "waiting",
                                                             "done"};

/// One agent. Needs you: no keeper or one that hangs, stalled, looping, orphaned, dead for two
/// minutes and not back, waiting for a person, stuck by its own word, unreadable; and one that did
/// not end well, for a day or until another of its name was started.
struct Entry {
  KnownAgent known;
  KeeperIs keeper = KeeperIs::gone;
  RunState process = RunState::unknown;  // looked at where no keeper's word holds

  Group group = Group::needs_you;
  std::string state;   // a verdict, an outcome, or "no keeper", "keeper hangs", "unreadable"
  std::string why;     // the decisive reason, on one line
  std::string to_do;   // needs you: the command to type
  std::string handle;  // what a person types to mean this one
  int depth = 0;       // ancestors in this home
  std::optional<std::size_t> parent;  // its place in the list

  // Void (unknown, empty) where no keeper's word holds.
  Verdict verdict = Verdict::unknown;
  Phase phase = Phase::start;
  std::vector<std::string> because;
  bool stuck = false;     // by its own word
  bool unmerged = false;  // it ended well, and its work is not where it belongs
  std::string next;
  WallTime next_at{};
  std::optional<WallTime> progressed;  // its last real sign; none: not known
  std::vector<Name> asked_by;          // its children that wait for it

  std::optional<Task> task;  // that it works on; only its id where no more can be read

  WallTime since{};  // of the state; 1970: not known
  [[nodiscard]] bool over() const { return is_terminal(known.heartbeat.status); }
};

/// Whether it is among the reasons that the agent asks for help: `tend state stuck`.
bool says_stuck(const std::vector<std::string>& because);

/// Fills in the tasks. The database is opened only if one of them works on a task.
void look_at_tasks(Machine& machine, Folder& home, std::span<Entry> entries);

/// Where the verdict of a kept agent is taken from.
enum class Source : std::uint8_t {
  journal,    // what is true now, ages included
  heartbeat,  // the last change of verdict; cheap, for those who look again and again
};

/// Parents before their children, older before newer, as agents_of() gives them.
Result<std::vector<Entry>> roster(Machine& machine, Folder& home, Source source = Source::journal);

/// When an agent last did something real, by its journal; nothing if that is not known.
std::optional<WallTime> progressed_of(Machine& machine, Folder& agent);

/// One agent alone. Its depth, its parent and its task are not known.
Entry look_at_agent(Machine& machine, KnownAgent known, Source source);

}  // namespace tend
