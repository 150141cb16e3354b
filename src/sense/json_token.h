// Numbers and atoms of JSON, read where they stand. Every function takes a pointer to the token's
// first byte and requires something behind the line that ends it, such as its newline.
#pragma once

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

inline std::size_t digits_at(const char* text) {
  std::size_t count = 0;
  while (text[count] >= '0' && text[count] <= '9') ++count;
  return count;
}

/// Reads a whole number of up to 18 digits; the byte behind it is left to be judged by the caller.
/// Nullptr if it is none.
inline const char* read_whole(const char* token, FieldValue& into) {
  constexpr std::size_t kSafeDigits = 18;
  const bool negative = *token == '-';
  const char* const first = token + (negative ? 1 : 0);
  std::int64_t whole = 0;
  const char* at = first;
  for (; *at >= '0' && *at <= '9'; ++at) {
    if (at == first + kSafeDigits) return nullptr;
    whole = whole * 10 + (*at - '0');
  }
  if (at == first || (*first == '0' && at != first + 1)) return nullptr;
  into.type = FieldValue::Type::whole;
  into.whole = negative ? -whole : whole;
  return at;
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

/// Reads any number of JSON's grammar. False if it is none.
inline bool read_number(const char* token, FieldValue& into) {
  const char* at = read_whole(token, into);
  if (at != nullptr && ends_token(*at)) return true;
  at = token + (*token == '-' ? 1 : 0);
  const std::size_t digits = digits_at(at);
  if (digits == 0 || (*at == '0' && digits > 1)) return false;
  at += digits;
  if (*at == '.') {
    const std::size_t decimals = digits_at(++at);
    if (decimals == 0) return false;
    at += decimals;
  }
  if (*at == 'e' || *at == 'E') {
    ++at;
    if (*at == '+' || *at == '-') ++at;
    const std::size_t exponent = digits_at(at);
    if (exponent == 0) return false;
    at += exponent;
  }
  if (!ends_token(*at)) return false;
  into.type = FieldValue::Type::real;
  into.real = nearest_double({token, at});
  return true;
}

}  // namespace tend
