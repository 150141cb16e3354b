// What `tend beat`, `tend state` and `tend ack` do, and the short way to them. Hooks run these
// commands thousands of times, so a plain call makes no World, no command table and no parser:
// docs/decisions/0006.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "judge/words.h"

namespace tend {

/// One thing that a program inside an agent says to its keeper.
struct Speech {
  enum class Kind { beat, state, ack };
  Kind kind = Kind::beat;
  SelfState state = SelfState::working;  // kind state
  Duration lasts{};                      // kind state; zero: not said
  std::optional<std::string> id{};       // kind ack; none: all questions
};

/// "beat", "state idle (15m)", "ack p1".
std::string in_words(const Speech& speech);

/// What came of it.
struct Spoken {
  int exit_code = 0;
  std::string line;  // for people; on standard output if the exit code is 0, else on standard error
  std::string agent{};  // for whom, if it was heard
  unsigned life = 0;
  bool has_sinks = false;  // it is also wanted in stores of other systems
};

/// Says it to the keeper that the process's environment names.
Spoken speak(const Speech& speech);

/// Says it to the keeper of a session that is only watched.
Spoken speak_for(const std::string& folder, const Speech& speech);

/// `words` is everything after "tend"; -q or --quiet among them leaves the line out if all went
/// well. nullopt unless they are one of the three commands in its plain form and without a mistake,
/// of an agent whose beats go nowhere else: all others are for the command table.
std::optional<Spoken> speak_quickly(std::span<const std::string_view> words);

}  // namespace tend
