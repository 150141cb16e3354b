// UTF-8 is looked at byte by byte here and nowhere else in this folder.
#include "store/json.h"

#include <simdjson.h>

#include <cmath>

#include "base/quote.h"

namespace tend {
namespace {

/// The size of the whole, shortest-form character at `at`, or 0 if there is none.
std::size_t character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xc2 && first < 0xe0   ? 2U
                           : first >= 0xe0 && first < 0xf0 ? 3U
                           : first >= 0xf0 && first < 0xf5 ? 4U
                                                           : 0U;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
  }
  const unsigned second = byte(1);
  const bool too_long = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second >= 0xa0;
  const bool too_large = first == 0xf4 && second >= 0x90;
  return too_long || surrogate || too_large ? 0 : size;
}

void append_escaped(std::string& to, char c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  switch (c) {
    case '"':
    case '\\':
      to += '\\';
      to += c;
      return;
    case '\n':
      to += "\\n";
      return;
    case '\t':
      to += "\\t";
      return;
    default:
      to += "\\u00";
      to += kDigits[byte >> 4U];
      to += kDigits[byte & 0xfU];
  }
}

/// Stands for itself in a JSON text.
bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x80 && c != '"' && c != '\\';
}

/// nullptr for what is no text, or one with a NUL.
const std::string* text_in(const ReadJson* field) {
  if (field == nullptr || !field->is_string()) return nullptr;
  const auto& text = field->get_ref<const std::string&>();
  return text.find('\0') == std::string::npos ? &text : nullptr;
}

/// Of a doubled key the last one counts, and what is not negative is unsigned, as nlohmann has it.
void copy(simdjson::dom::element from, ReadJson& to) {
  using Type = simdjson::dom::element_type;
  switch (from.type()) {
    case Type::OBJECT: {
      to = ReadJson::object();
      auto& fields = to.get_ref<ReadJson::object_t&>();
      const simdjson::dom::object object = from.get_object().value_unsafe();
      for (const simdjson::dom::key_value_pair field : object) {
        copy(field.value, fields[std::string(field.key)]);
      }
      return;
    }
    case Type::ARRAY: {
      to = ReadJson::array();
      const simdjson::dom::array array = from.get_array().value_unsafe();
      for (const auto element : array) {
        copy(element, to.get_ref<ReadJson::array_t&>().emplace_back());
      }
      return;
    }
    case Type::INT64: {
      const std::int64_t number = from.get_int64().value_unsafe();
      to = number < 0 ? ReadJson(number) : ReadJson(static_cast<std::uint64_t>(number));
      return;
    }
    case Type::UINT64:
      to = from.get_uint64().value_unsafe();
      return;
    case Type::DOUBLE:
      to = from.get_double().value_unsafe();
      return;
    case Type::STRING:
      to = std::string(from.get_string().value_unsafe());
      return;
    case Type::BOOL:
      to = from.get_bool().value_unsafe();
      return;
    case Type::NULL_VALUE:
      to = nullptr;
      return;
  }
}

/// Several times as fast as nlohmann's own parser, and stricter: a null value for what that one has
/// to look at, as a text with zeros behind it, deep ones and huge numbers.
ReadJson parse_fast(std::string_view text) {
  constexpr std::size_t kDepth = 64;
  simdjson::dom::parser parser;
  simdjson::dom::element element;
  ReadJson json;
  if (parser.allocate(text.size(), kDepth) != simdjson::SUCCESS) return json;
  if (parser.parse(text.data(), text.size()).get(element) == simdjson::SUCCESS) copy(element, json);
  return json;
}

}  // namespace

std::optional<ReadJson> parse_object(std::string_view text, std::size_t most) {
  if (text.size() > most) return std::nullopt;
  ReadJson json = parse_fast(text);
  if (json.is_null()) json = ReadJson::parse(text, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  return json;
}

std::string to_line(const WriteJson& json) {
  return json.dump(-1, ' ', false, WriteJson::error_handler_t::replace);
}

void append_json_text(std::string& to, std::string_view text) {
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  to += '"';
  for (std::size_t at = 0; at < text.size();) {
    std::size_t plain = at;
    while (plain < text.size() && is_plain(text[plain])) ++plain;
    to += text.substr(at, plain - at);
    at = plain;
    if (at == text.size()) break;
    const char c = text[at];
    const std::size_t size = character_at(text, at);
    if (size == 0) {
      to += kReplacement;
    } else if (size > 1) {
      to += text.substr(at, size);
    } else {
      append_escaped(to, c);
    }
    at += size == 0 ? 1 : size;
  }
  to += '"';
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = character_at(text, at);
    if (size == 0) return false;
    at += size;
  }
  return true;
}

bool has_control_characters(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) return true;
    if (byte == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0) return true;
  }
  return false;
}

std::string_view cut_text(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U;
  };
  while (most > 0 && continues(most)) --most;
  return text.substr(0, most);
}

std::string one_line(std::string_view text, std::size_t most) {
  // on_one_line() leaves the second half of a control character of two bytes as it is.
  std::string line = on_one_line(cut_text(text, most));
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t size = character_at(line, at);
    if (size == 0) line[at] = '?';
    at += size == 0 ? 1 : size;
  }
  return std::string(cut_text(line, most));
}

double rounded_seconds(double seconds) {
  constexpr double kYear10000 = 253'402'300'800.0;
  if (!(seconds > 0) || seconds >= kYear10000) return 0;
  return std::round(seconds * 1000) / 1000;
}

const ReadJson* find_field(const ReadJson& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string shown_text(const ReadJson& object, std::string_view key, std::size_t most) {
  const ReadJson* const text = find_field(object, key);
  return text == nullptr ? "" : shown_text(*text, most);
}

std::string shown_text(const ReadJson& text, std::size_t most) {
  const std::string* const found = text_in(&text);
  if (found == nullptr) return "";
  return one_line(*found, most);
}

std::string exact_text(const ReadJson& object, std::string_view key, std::size_t most) {
  const std::string* const text = text_in(find_field(object, key));
  return text != nullptr && text->size() <= most ? *text : "";
}

std::uint64_t whole_number(const ReadJson& object, std::string_view key, std::uint64_t most) {
  const ReadJson* const field = find_field(object, key);
  if (field == nullptr || !field->is_number_unsigned()) return 0;
  const auto number = field->get<std::uint64_t>();
  return number <= most ? number : 0;
}

double calendar_field(const ReadJson& object, std::string_view key) {
  const ReadJson* const field = find_field(object, key);
  if (field == nullptr || !field->is_number()) return 0;
  return rounded_seconds(field->get<double>());
}

bool flag_field(const ReadJson& object, std::string_view key) {
  const ReadJson* const field = find_field(object, key);
  return field != nullptr && field->is_boolean() && field->get<bool>();
}

}  // namespace tend
