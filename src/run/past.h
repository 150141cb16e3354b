// From a journal back to a judge: the snapshot it opens with, then everything that was seen and
// decided after it, judged again. What comes out is the judge that wrote the file, a list of what
// it had decided and nobody is known to have done, and what it had decided and could not write
// down. Reading changes nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "judge/decision.h"
#include "judge/judge.h"
#include "os/folder.h"
#include "sense/trace_header.h"
#include "store/journal.h"

namespace tend {

/// An action that was decided. It stays owed until did() is said of its number.
struct Ruling {
  std::uint64_t number = 0;
  Action action = Action::warn;
  Verdict verdict = Verdict::unknown;  // it was taken under
  std::uint32_t life = 0;
  std::string why;
};

/// What was decided and the file does not say: the write that had it was cut short.
struct Unwritten {
  Decision decision;
  std::uint64_t number = 0;  // of an action
  std::uint32_t life = 0;
};

struct Past {
  TraceHeader header;
  Judge judge;
  Instant last;             // that any line names, on the journal's clock
  std::uint32_t lives = 0;  // the number of the last one that was begun
  std::uint64_t next_action = 1;
  Offsets offsets;                   // what stands before them has been judged
  std::vector<Ruling> owed;          // decided, and not known to be done
  std::vector<Unwritten> unwritten;  // all of it was decided at `last`
  Exit exit;                         // how the last life ended, if it did and that was seen
  Duration clock_steps{};            // of the calendar that were seen since the header was written
};

/// Hears every line of a decision, of what came of one, and of remarks, in their order.
using HearRecord = std::function<void(std::string_view line, Instant at)>;

/// nullopt if there is no journal. Fails if it cannot be read or is no keeper's.
Result<std::optional<Past>> read_past(Folder& folder, const HearRecord& hear = {});

}  // namespace tend
