// Where the values of a JSON text stand in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tend {

struct JsonMember;

/// A value, from its first byte to behind its last.
struct JsonSpan {
  enum class Kind : std::uint8_t { object, array, text, number, word };

  Kind kind = Kind::word;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<JsonMember> members;  // of an object or an array
};

struct JsonMember {
  std::string key;            // unescaped; "" in an array
  std::size_t key_begin = 0;  // of its quote; in an array, of the value
  std::size_t key_end = 0;
  JsonSpan value;
};

/// Fails with line and column on what is no JSON, or deeper or larger than json_edit.h allows.
Result<JsonSpan> scan_json(std::string_view text);
/// "line 3, column 7", in bytes and from 1.
std::string place_in(std::string_view text, std::size_t at);
/// What a text stands for, unescaped; other values as they are written.
std::string plain_value(std::string_view text, const JsonSpan& value);

}  // namespace tend
