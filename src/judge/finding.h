// What the evidence says at one moment, before anything is done about it: the order of judgement,
// as one function without side effects.
#pragma once

#include <cstdint>

#include "judge/clocks.h"
#include "judge/evidence.h"
#include "judge/fitness.h"
#include "judge/horizon.h"
#include "judge/policy.h"
#include "judge/silence.h"

namespace tend {

/// Two sources that contradict each other, or an agent that gives itself up: suspect at once.
enum class Disagreement : std::uint8_t { none, stopped, stuck, turn_after_record, idle_in_tool };

/// What the judge remembers of its own looking, between two moments.
struct Watch {
  std::optional<AwakeTime> unfit_since;
  bool trouble_before = false;  // suspect, stalled or looping when this round of unfitness began
  SilenceTime fit_since{};      // `confirm` counts from here
  bool excused = false;
  std::optional<SilenceTime> excuse_over;
  std::optional<Instant>
      new_policy;                   // another policy was taken on there, and takes effect behind it
  bool stalled = false;             // once stalled, only a real sign or an excuse undoes it
  std::optional<SilenceTime> weak;  // the last weak sign that came in time to put stalled off
};

struct Finding {
  Verdict verdict = Verdict::unknown;
  Disagreement disagreement = Disagreement::none;
  Unfit unfit = Unfit::fit;
  Silence silence;
  bool held_by_provider = false;  // the process is gone while a hold lasts
};

/// Applies the order of judgement: fitness, intent and record, process, parent, waiting, silence.
/// Updates `watch`.
Finding find(const Evidence& evidence, const Policy& policy, const Exiting& exiting,
             const Fitness& fitness, Verdict before, Watch& watch, const Clocks& clocks,
             Horizon& horizon);

/// A kill takes effect within this time, or a person is called.
inline constexpr Duration kKillWorksWithin = std::chrono::seconds{60};

/// A clean end: nobody has to bring this agent back. Requires that its process is gone.
bool ended_cleanly(const Evidence& evidence);

/// True if the process went because we killed it. Requires that it is gone.
bool ended_by_us(const Life& life);

/// True if its parent died so shortly before that its own death belongs to that. Requires that it
/// is gone.
bool died_with_parent(const Life& life, const Policy& policy);

/// It died after it had become an orphan, or by the kill that follows.
bool died_an_orphan(const Life& life, const Policy& policy);

}  // namespace tend
