// The fields of a trace line that mean something to us, as they were written: before it is known
// what kind of signal they stand on.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "base/time.h"
#include "judge/signal.h"
#include "sense/word_index.h"

namespace tend {

enum class Field : std::uint8_t {
  t,
  is,
  life,
  pid,
  state,
  exit,
  by,
  of,
  status,
  task,
  id,
  tool,
  limit,
  background,
  child,
  same,
  until,
  cause,
  error,
  final,
  verdict,
  for_whom,
  event,
  waiting,
  want,
  seconds,
  silent,
  from,
  trace,
  action,
  did,
  note,
  offset,
  said,
  beaten,
};
inline constexpr std::array<std::string_view, 35> kFieldWords{
    "t",     "is",    "life",    "pid",   "state",      "exit",    "by",   "of",      "status",
    "task",  "id",    "tool",    "limit", "background", "child",   "same", "until",   "cause",
    "error", "final", "verdict", "for",   "event",      "waiting", "want", "seconds", "silent",
    "from",  "trace", "action",  "did",   "note",       "offset",  "said", "beaten",
};
inline constexpr auto kFieldIndex = index_of<Field>(kFieldWords);

struct FieldValue {
  enum class Type : std::uint8_t { text, whole, real, flag, other };
  Type type = Type::other;
  bool flag = false;
  std::int64_t whole = 0;
  double real = 0;
  std::string_view text;  // has PackedWord::kLongest readable bytes

  /// Equal as far as the type says.
  bool operator==(const FieldValue& value) const {
    if (type != value.type) return false;
    switch (type) {
      case Type::text:
        return text == value.text;
      case Type::whole:
        return whole == value.whole;
      case Type::real:
        return !(real < value.real) && !(value.real < real);
      case Type::flag:
        return flag == value.flag;
      case Type::other:
        break;
    }
    return true;
  }
};

/// Seconds as they were written, to the nearest millisecond, within [least, kLongestTime].
inline Duration duration_of(const FieldValue& number, Duration least) {
  if (number.type == FieldValue::Type::whole) {
    const std::int64_t most = kLongestTime.count() / 1000;
    return Duration{std::clamp(number.whole, least.count() / 1000, most) * 1000};
  }
  return Duration{std::llround(std::clamp(number.real * 1000, static_cast<double>(least.count()),
                                          static_cast<double>(kLongestTime.count())))};
}

class TraceFields {
 public:
  void clear() {
    present_ = 0;
    exit = {};
  }
  FieldValue& set(Field field) {
    present_ |= bit(field);
    return values_[static_cast<std::size_t>(field)];
  }
  /// As if the field had not been written.
  void drop(Field field) { present_ &= ~bit(field); }

  [[nodiscard]] bool has(Field field) const { return (present_ & bit(field)) != 0; }
  [[nodiscard]] const FieldValue* get(Field field) const {
    return has(field) ? &values_[static_cast<std::size_t>(field)] : nullptr;
  }
  [[nodiscard]] std::string_view text(Field field) const {
    const FieldValue* const value = get(field);
    return value != nullptr && value->type == FieldValue::Type::text ? value->text
                                                                     : std::string_view{};
  }
  [[nodiscard]] const FieldValue* number(Field field) const {
    const FieldValue* const value = get(field);
    const bool is_number = value != nullptr && (value->type == FieldValue::Type::whole ||
                                                value->type == FieldValue::Type::real);
    return is_number ? value : nullptr;
  }
  /// Within [0, kLongestTime], or nothing.
  [[nodiscard]] std::optional<Duration> duration(Field field) const {
    const FieldValue* const value = number(field);
    if (value == nullptr) return std::nullopt;
    return duration_of(*value, Duration::zero());
  }
  /// Within [0, 2^32); a yes counts as one.
  [[nodiscard]] std::uint32_t count(Field field) const {
    constexpr auto kMost = std::numeric_limits<std::uint32_t>::max();
    const FieldValue* const value = get(field);
    if (value == nullptr) return 0;
    switch (value->type) {
      case FieldValue::Type::whole:
        return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value->whole, 0, kMost));
      case FieldValue::Type::real:
        return static_cast<std::uint32_t>(std::clamp<double>(value->real, 0, kMost));
      case FieldValue::Type::flag:
        return value->flag ? 1 : 0;
      case FieldValue::Type::text:
      case FieldValue::Type::other:
        break;
    }
    return 0;
  }
  [[nodiscard]] bool flag(Field field) const { return count(field) > 0; }

  bool operator==(const TraceFields& other) const {
    if (present_ != other.present_ || exit != other.exit) return false;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (has(static_cast<Field>(i)) && values_[i] != other.values_[i]) return false;
    }
    return true;
  }

  Exit exit;

 private:
  static_assert(kFieldWords.size() <= 64);
  static constexpr std::uint64_t bit(Field field) {
    return std::uint64_t{1} << static_cast<std::uint32_t>(field);
  }

  std::uint64_t present_ = 0;
  std::array<FieldValue, kFieldWords.size()> values_;
};

}  // namespace tend
