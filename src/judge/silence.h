// Whose turn is it, and until when may it be silent? The table of phases as code: from the facts to
// one phase, its limit and its deadline. Every silence has an owner and a limit of its own, and
// every excuse has a ceiling.
#pragma once

#include "judge/clocks.h"
#include "judge/evidence.h"
#include "judge/horizon.h"
#include "judge/policy.h"
#include "judge/reason.h"

namespace tend {

/// The silence of one moment, measured against its phase.
struct Silence {
  Phase phase = Phase::start;
  Verdict calm = Verdict::unknown;  // the verdict while the deadline is not reached
  bool limited = true;              // false: no deadline at all
  bool excused = false;             // someone else's turn: a person, the provider, a child
  bool all_ended = false;           // what it waited for is over: cured by resume without kill

  SilenceTime base{};  // what the limit counts from, as a rule the last real sign
  Duration limit{};
  SilenceTime deadline{};      // suspect from here on
  SilenceTime stalled_from{};  // not stalled before this
  SilenceTime ceiling{};       // weak signs put nothing off past this

  Because because = Because::silent_within;  // the decisive fact, for people
  Name name;
  std::uint32_t count = 0;
  SilenceTime since{};  // what `age` in that reason counts from
};

/// When and by what the agent has to be gone: its own word, or the operator's order.
enum class ExitBy : std::uint8_t { nothing, own_word, stop, drain };

struct Exiting {
  ExitBy by = ExitBy::nothing;
  SilenceTime from{};
};

Silence measure_silence(const Evidence& evidence, const Policy& policy, const Exiting& exiting,
                        const Clocks& clocks, Horizon& horizon);

/// How long a call may stay open after the last real sign.
Duration limit_of(const Tool& tool, const Limits& limits);

/// True if a child is at work now.
bool child_at_work(const Life& life, AwakeTime now);

}  // namespace tend
