// What an agent prints, put into signals. One small file an agent's language; none of them keeps a
// clock or reads a file.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/signal.h"
#include "sense/text_arena.h"

namespace tend {

/// Signals of one moment and the texts they point into.
struct SignalBatch {
  std::vector<Signal> signals;
  TextArena texts;

  void clear() {
    signals.clear();
    texts.clear();
  }
};

class Adapter {
 public:
  virtual ~Adapter() = default;
  /// One line of the stream, without its newline, seen at `now`. 64 readable bytes follow it.
  virtual void take(std::string_view line, Instant now, SignalBatch& batch) = 0;
  /// A new life begins: what the old one left open is void.
  virtual void begin_life() = 0;
  /// The program ended by itself and with success. A language that says when a turn is over says
  /// nothing here; for one that does not, this is how it says so.
  virtual void end_well(SignalBatch& batch) = 0;
};

/// Any program: a line that was not there lately is progress, one that repeats is noise, and so is
/// a blank one. Carriage returns end lines too, so that a spinner is seen as what it is.
std::unique_ptr<Adapter> make_line_adapter();

}  // namespace tend
