// One pass, no backtracking: the first surprise gives the line up.
#include "sense/flat_line.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sense/json_token.h"

namespace tend {
namespace {

/// The text up to its closing quote, eight bytes at a time. `text` points behind the opening quote;
/// nullptr if an escape, a control character or anything but ASCII comes first.
const char* find_plain_end(const char* text) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t kOnes = 0x0101010101010101U;
  constexpr std::uint64_t kHighs = 0x8080808080808080U;
  while (true) {
    std::uint64_t word = 0;
    std::memcpy(&word, text, sizeof word);
    const std::uint64_t quoted = word ^ (kOnes * '"');
    const std::uint64_t slashed = word ^ (kOnes * '\\');
    const std::uint64_t quotes = (quoted - kOnes) & ~quoted & kHighs;
    const std::uint64_t slashes = (slashed - kOnes) & ~slashed & kHighs;
    const std::uint64_t controls = (word - kOnes * ' ') & ~word & kHighs;
    const std::uint64_t others = slashes | controls | (word & kHighs);
    if ((quotes | others) == 0) {
      text += sizeof word;
      continue;
    }
    // Borrows make false marks above the lowest true one only.
    const int quote = std::countr_zero(quotes);
    return quote < std::countr_zero(others) ? text + quote / 8 : nullptr;
  }
}

/// Reads the value at `at` and returns what follows it, or nullptr.
const char* read_value(const char* at, FieldValue& into) {
  switch (*at) {
    case '"': {
      const char* const end = find_plain_end(at + 1);
      if (end == nullptr) return nullptr;
      into.type = FieldValue::Type::text;
      into.text = {at + 1, end};
      return end + 1;
    }
    case 't':
      into.type = FieldValue::Type::flag;
      into.flag = true;
      return is_atom(at, "true") ? at + 4 : nullptr;
    case 'f':
      into.type = FieldValue::Type::flag;
      into.flag = false;
      return is_atom(at, "false") ? at + 5 : nullptr;
    default:
      return read_number(at, into);
  }
}

}  // namespace

bool read_flat_line(std::string_view line, TraceFields& fields) {
  fields.clear();
  if (!line.starts_with("{\"")) return false;
  FieldValue unknown;
  const char* at = line.data() + 1;
  const char* const end = line.data() + line.size();
  while (at < end && *at == '"') {
    const char* const key_end = find_plain_end(at + 1);
    if (key_end == nullptr || key_end[1] != ':') return false;
    Field known{};
    const bool is_known = kFieldIndex.find({at + 1, key_end}, known);
    at = read_value(key_end + 2, is_known ? fields.set(known) : unknown);
    if (at == nullptr) return false;
    if (*at == '}') return at + 1 == end;
    if (*at != ',') return false;
    ++at;
  }
  return false;
}

}  // namespace tend
