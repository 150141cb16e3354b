// JSON as the small files of this folder use it: read without exceptions and without trust, written
// on one line in the order of writing, texts of any bytes included.
#pragma once

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "judge/words.h"

namespace tend {

/// For reading: finds a key quickly however many there are. Of a doubled key the last one counts.
using ReadJson = nlohmann::json;
/// For writing: keeps the order.
using WriteJson = nlohmann::ordered_json;

/// nullopt unless the text is one JSON object and no longer than `most`.
std::optional<ReadJson> parse_object(std::string_view text, std::size_t most);
/// Without a newline. Bytes that are no UTF-8 become U+FFFD.
std::string to_line(const WriteJson& json);

/// The same as to_line() for one text, quotes included.
void append_json_text(std::string& to, std::string_view text);
bool is_utf8(std::string_view text);
/// Also those beyond ASCII, U+0080 to U+009F: a terminal may obey them. REQUIRES UTF-8.
bool has_control_characters(std::string_view text);
/// At most the first `most` bytes, no character torn.
std::string_view cut_text(std::string_view text, std::size_t most);
/// For people: on one line, cut after `most` bytes; a byte that is no UTF-8 becomes '?'.
std::string one_line(std::string_view text, std::size_t most);

/// Seconds since 1970, kept to the millisecond; 0 for what no calendar has.
double rounded_seconds(double seconds);

// The value of a key, or what stands for "missing" if it is missing, of another type or hostile.

/// nullptr if it is missing or null.
const ReadJson* find_field(const ReadJson& object, std::string_view key);
/// For people: on one line, cut after `most` bytes; "" if it has a NUL.
std::string shown_text(const ReadJson& object, std::string_view key, std::size_t most);
std::string shown_text(const ReadJson& text, std::size_t most);
/// For telling things apart: as it stands; "" if it is longer than `most` or has a NUL.
std::string exact_text(const ReadJson& object, std::string_view key, std::size_t most);
/// Within [0, most], else 0.
std::uint64_t whole_number(const ReadJson& object, std::string_view key, std::uint64_t most);
double calendar_field(const ReadJson& object, std::string_view key);
bool flag_field(const ReadJson& object, std::string_view key);

template <class Enum, std::size_t N>
std::optional<Enum> word_field(const ReadJson& object, std::string_view key,
                               const std::array<std::string_view, N>& words) {
  const ReadJson* const field = find_field(object, key);
  if (field == nullptr || !field->is_string()) return std::nullopt;
  return from_word<Enum>(words, field->get_ref<const std::string&>());
}

}  // namespace tend
