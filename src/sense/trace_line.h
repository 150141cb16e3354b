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
  enum class Found : std::uint8_t { signal, record, header, nothing, bad };
  /// Whether a line must say when it was seen.
  enum class Time : std::uint8_t { required, optional };

  explicit TraceLineParser(Time time = Time::required) : time_(time) {}

  /// Sets `signal` and `at` after Found::signal; the signal's texts are then in `texts`.
  /// Found::record is what a keeper itself decided, did or noted: `at` is set, the rest is for
  /// those who read the line. Found::header is an object with a `trace`, of which nothing else was
  /// read; Found::nothing a blank line. Where time is optional and the line has none that can be
  /// used, `at` is zero. Requires LineSplitter::kPadding readable bytes behind the line.
  Found parse(std::string_view line, TextArena& texts, Signal& signal, Instant& at);

  /// What is wrong with a line that is Found::bad.
  [[nodiscard]] std::string_view problem() const { return problem_; }

  /// Whether a line that is Found::record tells of a decision: a verdict or an action.
  [[nodiscard]] bool is_decision() const {
    return fields_.has(Field::verdict) || fields_.has(Field::action);
  }

  /// Field::offset, said or beaten of a line that is Found::signal; `otherwise` if it names none.
  [[nodiscard]] std::uint64_t offset(Field which, std::uint64_t otherwise) const {
    const FieldValue* const value = fields_.get(which);
    const bool usable =
        value != nullptr && value->type == FieldValue::Type::whole && value->whole >= 0;
    return usable ? static_cast<std::uint64_t>(value->whole) : otherwise;
  }

 private:
  Found parse_other(Instant& at);
  bool read_time(Instant& at);
  Found bad(std::string_view problem);

  Time time_;
  TraceFields fields_;
  JsonLine json_;
  std::string_view problem_;
};

}  // namespace tend
