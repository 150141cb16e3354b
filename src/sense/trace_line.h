// One line of a trace to one signal and its time.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/time.h"
#include "judge/signal.h"
#include "sense/json_line.h"
#include "sense/text_arena.h"
#include "sense/trace_fields.h"

namespace tend {

class TraceLineParser {
 public:
  enum class Found : std::uint8_t { signal, header, nothing, bad };

  /// Sets `signal` and `at` after Found::signal; the signal's texts are then in `texts`.
  /// Found::header is an object with a `trace`, of which nothing else was read; Found::nothing a
  /// blank line. Requires LineSplitter::kPadding readable bytes behind the line.
  Found parse(std::string_view line, TextArena& texts, Signal& signal, Instant& at);

  /// What is wrong with a line that is Found::bad.
  [[nodiscard]] std::string_view problem() const { return problem_; }

 private:
  Found bad(std::string_view problem);

  TraceFields fields_;
  JsonLine json_;
  std::string_view problem_;
};

}  // namespace tend
