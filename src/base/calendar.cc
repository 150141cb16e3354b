// Read from left to right, each part as wide as it must be.
#include "base/calendar.h"

#include <cstddef>

namespace tend {
namespace {

using namespace std::chrono;

/// Takes what it reads off the front of the text.
class Reader {
 public:
  explicit Reader(std::string_view text) : left_(text) {}

  [[nodiscard]] bool is_at_end() const { return left_.empty(); }
  bool take(char wanted) {
    if (left_.empty() || left_.front() != wanted) return false;
    left_.remove_prefix(1);
    return true;
  }
  /// Exactly so many digits.
  std::optional<int> number(std::size_t digits) {
    if (left_.size() < digits) return std::nullopt;
    int value = 0;
    for (const char c : left_.substr(0, digits)) {
      if (c < '0' || c > '9') return std::nullopt;
      value = value * 10 + (c - '0');
    }
    left_.remove_prefix(digits);
    return value;
  }
  /// The decimals of a second; those past the ninth are dropped.
  std::optional<nanoseconds> decimals() {
    nanoseconds value{};
    nanoseconds place = 100ms;
    std::size_t count = 0;
    for (; !left_.empty() && left_.front() >= '0' && left_.front() <= '9'; ++count) {
      value += place * (left_.front() - '0');
      place /= 10;
      left_.remove_prefix(1);
    }
    return count == 0 ? std::nullopt : std::optional(value);
  }

 private:
  std::string_view left_;
};

std::optional<sys_days> read_date(Reader& reader) {
  const auto year = reader.number(4);
  if (!year || !reader.take('-')) return std::nullopt;
  const auto month = reader.number(2);
  if (!month || !reader.take('-')) return std::nullopt;
  const auto day = reader.number(2);
  if (!day) return std::nullopt;
  const year_month_day date{std::chrono::year{*year},
                            std::chrono::month{static_cast<unsigned>(*month)},
                            std::chrono::day{static_cast<unsigned>(*day)}};
  // Nanoseconds since 1970 end in the year 2262.
  if (!date.ok() || *year < 1970 || *year > 2261) return std::nullopt;
  return sys_days{date};
}

std::optional<nanoseconds> read_clock(Reader& reader) {
  const auto hour = reader.number(2);
  if (!hour || *hour > 23 || !reader.take(':')) return std::nullopt;
  const auto minute = reader.number(2);
  if (!minute || *minute > 59 || !reader.take(':')) return std::nullopt;
  const auto second = reader.number(2);
  if (!second || *second > 60) return std::nullopt;
  nanoseconds time = hours{*hour} + minutes{*minute} + seconds{*second};
  if (reader.take('.')) {
    const auto decimals = reader.decimals();
    if (!decimals) return std::nullopt;
    time += *decimals;
  }
  return time;
}

/// "Z" or "+02:00".
std::optional<nanoseconds> read_offset(Reader& reader) {
  if (reader.take('Z') || reader.take('z')) return nanoseconds{};
  const bool west = reader.take('-');
  if (!west && !reader.take('+')) return std::nullopt;
  const auto hour = reader.number(2);
  if (!hour || *hour > 23 || !reader.take(':')) return std::nullopt;
  const auto minute = reader.number(2);
  if (!minute || *minute > 59) return std::nullopt;
  const nanoseconds offset = hours{*hour} + minutes{*minute};
  return west ? -offset : offset;
}

}  // namespace

std::optional<WallTime> parse_calendar(std::string_view text) {
  Reader reader(text);
  const auto date = read_date(reader);
  if (!date) return std::nullopt;
  const WallTime midnight{nanoseconds{date->time_since_epoch()}};
  if (reader.is_at_end()) return midnight;
  if (!reader.take('T') && !reader.take('t') && !reader.take(' ')) return std::nullopt;
  const auto clock = read_clock(reader);
  if (!clock) return std::nullopt;
  const auto offset = read_offset(reader);
  if (!offset || !reader.is_at_end()) return std::nullopt;
  return midnight + *clock - *offset;
}

}  // namespace tend
