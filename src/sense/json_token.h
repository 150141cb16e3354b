// Numbers and atoms of JSON, read where they stand. Every function takes a pointer to the token's
// first byte and requires something behind the line that ends it, such as its newline.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <system_error>

#include "sense/trace_fields.h"

namespace tend {

/// True for what may follow a number, true, false or null.
inline bool ends_token(char c) {
  return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/// True if the token is this atom and nothing else. Requires six readable bytes.
inline bool is_atom(const char* token, std::string_view atom) {
  return std::memcmp(token, atom.data(), atom.size()) == 0 && ends_token(token[atom.size()]);
}

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

inline const char* skip_digits(const char* text) {
  while (is_digit(*text)) ++text;
  return text;
}

/// A number too large for a double is the largest there is, one too small is zero.
inline double nearest_double(std::string_view number) {
  constexpr double kMost = std::numeric_limits<double>::max();
  double real = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), real);
  if (read.ec != std::errc::result_out_of_range) return real;
  if (number.find("e-") != number.npos || number.find("E-") != number.npos) return 0;
  return number.front() == '-' ? -kMost : kMost;
}

/// Reads any number of JSON's grammar and returns its end, or nullptr if it is none. What follows
/// is left to be judged by the caller.
inline const char* read_any_number(const char* token, FieldValue& into) {
  const char* const first = token + (*token == '-' ? 1 : 0);
  const char* at = skip_digits(first);
  if (at == first || (*first == '0' && at != first + 1)) return nullptr;
  if (*at == '.') {
    const char* const decimals = ++at;
    at = skip_digits(at);
    if (at == decimals) return nullptr;
  }
  if (*at == 'e' || *at == 'E') {
    ++at;
    if (*at == '+' || *at == '-') ++at;
    const char* const exponent = at;
    at = skip_digits(at);
    if (at == exponent) return nullptr;
  }
  into.type = FieldValue::Type::real;
  into.real = nearest_double({token, at});
  return at;
}

/// The same, the short way for up to 15 digits: these and the power of ten are exact as doubles, so
/// one division gives the nearest double. Whole numbers of that size stay whole.
inline const char* read_number(const char* token, FieldValue& into) {
  constexpr std::ptrdiff_t kExactDigits = 15;
  constexpr std::array<double, kExactDigits + 1> kTens{
      1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const bool negative = *token == '-';
  const char* const first = token + (negative ? 1 : 0);
  std::int64_t digits = 0;
  const char* at = first;
  const char* const too_far = first + kExactDigits + 1;
  for (; is_digit(*at) && at != too_far; ++at) digits = digits * 10 + (*at - '0');
  if (at == first || at == too_far || (*first == '0' && at != first + 1)) {
    return read_any_number(token, into);
  }
  const bool is_whole = *at != '.';
  std::size_t decimals = 0;
  if (!is_whole) {
    for (++at; is_digit(*at) && at != too_far; ++at, ++decimals) digits = digits * 10 + (*at - '0');
    if (decimals == 0 || at == too_far) return read_any_number(token, into);
  }
  if (*at == 'e' || *at == 'E') return read_any_number(token, into);
  digits = negative ? -digits : digits;
  into.type = is_whole ? FieldValue::Type::whole : FieldValue::Type::real;
  into.whole = digits;
  if (!is_whole) into.real = static_cast<double>(digits) / kTens[decimals];
  return at;
}

}  // namespace tend
