// A duration is one or more components, a number and a unit each, in falling order of their units:
// 1h30m. Only the last may have a fraction; a number alone is seconds.
#include "base/duration.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

#include "base/quote.h"

namespace tend {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t milliseconds;
};
constexpr std::array<Unit, 5> kUnits{{
    {"d", 86'400'000},
    {"h", 3'600'000},
    {"m", 60'000},
    {"s", 1'000},
    {"ms", 1},
}};
constexpr std::size_t kSeconds = 3;
constexpr std::int64_t kBillion = 1'000'000'000;
constexpr std::size_t kMostFractionDigits = 9;

struct Number {
  std::int64_t whole = 0;
  std::optional<std::int64_t> billionths;
};

enum class Trouble { syntax, too_long, too_fine };

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

template <class Predicate>
std::string_view take_while(std::string_view& rest, Predicate predicate) {
  const auto* const end = std::find_if_not(rest.begin(), rest.end(), predicate);
  const std::string_view taken = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  rest.remove_prefix(taken.size());
  return taken;
}

std::expected<std::int64_t, Trouble> to_integer(std::string_view digits) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{}) return std::unexpected(Trouble::too_long);
  return value;
}

std::expected<Number, Trouble> take_number(std::string_view& rest) {
  const std::string_view digits = take_while(rest, is_digit);
  if (digits.empty()) return std::unexpected(Trouble::syntax);
  const auto whole = to_integer(digits);
  if (!whole) return std::unexpected(whole.error());
  if (!rest.starts_with('.')) return Number{*whole, std::nullopt};

  rest.remove_prefix(1);
  std::string fraction(take_while(rest, is_digit));
  if (fraction.empty()) return std::unexpected(Trouble::syntax);
  while (fraction.size() > 1 && fraction.ends_with('0')) fraction.pop_back();
  if (fraction.size() > kMostFractionDigits) return std::unexpected(Trouble::too_fine);
  fraction.resize(kMostFractionDigits, '0');
  return Number{*whole, *to_integer(fraction)};
}

std::expected<std::int64_t, Trouble> in_milliseconds(Number number, std::int64_t unit) {
  if (number.whole > kLongestTime.count() / unit) return std::unexpected(Trouble::too_long);
  const std::int64_t part = number.billionths.value_or(0) * unit;
  if (part % kBillion != 0) return std::unexpected(Trouble::too_fine);
  return number.whole * unit + part / kBillion;
}

std::expected<Duration, Trouble> read_duration(std::string_view text) {
  std::string_view rest = text;
  std::int64_t total = 0;
  std::size_t largest_left = 0;  // each unit once, and the larger ones first
  do {
    const auto number = take_number(rest);
    if (!number) return std::unexpected(number.error());

    const std::string_view name = take_while(rest, is_letter);
    const bool bare = name.empty() && rest.empty() && largest_left == 0;
    std::size_t unit = largest_left;
    while (unit < kUnits.size() && kUnits[unit].name != name) ++unit;
    if (bare) unit = kSeconds;
    if (unit == kUnits.size()) return std::unexpected(Trouble::syntax);
    if (number->billionths && !rest.empty()) return std::unexpected(Trouble::syntax);
    largest_left = unit + 1;

    const auto amount = in_milliseconds(*number, kUnits[unit].milliseconds);
    if (!amount) return std::unexpected(amount.error());
    total += *amount;
    if (total > kLongestTime.count()) return std::unexpected(Trouble::too_long);
  } while (!rest.empty());
  return Duration{total};
}

/// "1.5" for 1500, "2" for 2000: thousandths without trailing zeros.
std::string in_thousandths(std::int64_t value) {
  std::string out = std::to_string(value / 1000);
  if (value % 1000 == 0) return out;
  std::string fraction = std::to_string(1000 + value % 1000).substr(1);
  while (fraction.ends_with('0')) fraction.pop_back();
  return out + "." + fraction;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  const auto duration = read_duration(text);
  if (duration) return *duration;
  switch (duration.error()) {
    case Trouble::too_long:
      return fail(in_quotes(text) + " is longer than 3000 years");
    case Trouble::too_fine:
      return fail(in_quotes(text) + " is finer than a millisecond");
    case Trouble::syntax:
      break;
  }
  return fail(in_quotes(text) +
              " is no duration: write 500ms, 30s, 15m, 1h30m or 2d; a bare number is seconds");
}

std::string format_duration(Duration duration) {
  if (duration >= kNoLimit) return "none";
  if (duration < Duration::zero()) return "-" + format_duration(-duration);
  std::int64_t rest = duration.count();
  if (rest > 0 && rest < kUnits[kSeconds].milliseconds) return std::to_string(rest) + "ms";

  std::string out;
  for (std::size_t unit = 0; unit < kSeconds; ++unit) {
    const std::int64_t whole = rest / kUnits[unit].milliseconds;
    if (whole == 0) continue;
    out += std::to_string(whole);
    out += kUnits[unit].name;
    rest %= kUnits[unit].milliseconds;
  }
  if (rest > 0 || out.empty()) out += in_thousandths(rest) + "s";
  return out;
}

std::string format_seconds(Duration duration) {
  if (duration >= kNoLimit) return "no limit";
  if (duration < Duration::zero()) return "-" + format_seconds(-duration);
  return in_thousandths(duration.count()) + " s";
}

}  // namespace tend
