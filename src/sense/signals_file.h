// Lines of `signals.jsonl`: what hooks and our own commands say about an agent, in the words of the
// contract. They come from outside, so only what an agent may say of itself is taken.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/time.h"
#include "sense/adapter.h"
#include "sense/trace_line.h"

namespace tend {

class SignalsFile {
 public:
  enum class Took : std::uint8_t { taken, old_life, old_answer, refused, bad };

  /// One line, without its newline, 64 readable bytes behind it. `t` may be missing and is not
  /// used; `until` is on the machine's clock and moved by `shift` to the journal's. Taken are:
  /// beat by agent or other, progress, noise, tool-*, compact-*, retry, ask, answer, turn-*, error,
  /// state, ack, activity, task, inbox. Refused: everything that only the kernel, the keeper or the
  /// operator can know, and kinds that nobody knows. A line without a `life` counts for the current
  /// one; one of an older life is not taken, and an answer of an older life is told apart. A blank
  /// line is taken and says nothing.
  Took take(std::string_view line, std::uint32_t life, Duration shift, SignalBatch& batch);

 private:
  TraceLineParser parser_{TraceLineParser::Time::optional};
};

}  // namespace tend
