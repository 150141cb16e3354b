// simdjson's on-demand parser, and what it leaves to be checked.
#include "sense/json_line.h"

#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "sense/json_token.h"
#include "sense/line_splitter.h"
#include "sense/text_arena.h"

namespace tend {

namespace od = simdjson::ondemand;
static_assert(LineSplitter::kPadding >= simdjson::SIMDJSON_PADDING);

class JsonLine::Reader {
 public:
  std::string_view read(std::string_view line, TraceFields& fields);

 private:
  bool read_field(od::field& field, TraceFields& fields);
  bool read_scalar(od::value& value, FieldValue& into);
  bool read_exit(od::value& value, Exit& exit);
  bool read_text(od::raw_json_string raw, std::string_view& text);
  bool well_formed(od::value& value, int depth);

  od::parser parser_;
  TextArena texts_;  // of the line at hand
};

std::string_view JsonLine::Reader::read(std::string_view line, TraceFields& fields) {
  fields.clear();
  texts_.clear();
  od::document document;
  const simdjson::padded_string_view padded(line.data(), line.size(),
                                            line.size() + LineSplitter::kPadding);
  const auto error = parser_.iterate(padded).get(document);
  if (error == simdjson::UTF8_ERROR) return "it is not UTF-8";
  if (error != simdjson::SUCCESS) return "it is no JSON";
  od::object object;
  if (document.get_object().get(object) != simdjson::SUCCESS) return "it is no JSON object";
  for (auto next : object) {
    od::field field;
    if (std::move(next).get(field) != simdjson::SUCCESS || !read_field(field, fields)) {
      return "it is no JSON";
    }
  }
  const bool at_end = document.current_location().error() == simdjson::OUT_OF_BOUNDS;
  return at_end ? std::string_view{} : "there is more on it than one JSON object";
}

bool JsonLine::Reader::read_field(od::field& field, TraceFields& fields) {
  std::string_view key;
  if (!read_text(field.key(), key)) return false;
  Field known{};
  if (!kFieldIndex.find(key, known)) return well_formed(field.value(), 0);
  const char first = field.value().raw_json_token().front();
  if (known == Field::exit && first == '{') return read_exit(field.value(), fields.exit);
  FieldValue& into = fields.set(known);
  if (first == '[' || first == '{') {
    into.type = FieldValue::Type::other;
    return well_formed(field.value(), 0);
  }
  if (first == 'n') fields.drop(known);
  return read_scalar(field.value(), into);
}

bool JsonLine::Reader::read_scalar(od::value& value, FieldValue& into) {
  const char* const token = value.raw_json_token().data();
  switch (*token) {
    case '"': {
      od::raw_json_string raw;
      into.type = FieldValue::Type::text;
      return value.get_raw_json_string().get(raw) == simdjson::SUCCESS && read_text(raw, into.text);
    }
    case 't':
    case 'f':
      into.type = FieldValue::Type::flag;
      into.flag = *token == 't';
      return is_atom(token, into.flag ? "true" : "false");
    case 'n':
      into.type = FieldValue::Type::other;
      return is_atom(token, "null");
    default: {
      const char* const end = read_number(token, into);
      return end != nullptr && ends_token(*end);
    }
  }
}

bool JsonLine::Reader::read_exit(od::value& value, Exit& exit) {
  od::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) return false;
  for (auto next : object) {
    od::field field;
    std::string_view key;
    if (std::move(next).get(field) != simdjson::SUCCESS) return false;
    if (!read_text(field.key(), key)) return false;
    const char* const token = field.value().raw_json_token().data();
    if (!well_formed(field.value(), 1)) return false;
    FieldValue number;
    if ((key != "code" && key != "signal") || read_number(token, number) == nullptr ||
        number.type != FieldValue::Type::whole) {
      continue;
    }
    exit.how = key == "code" ? Exit::How::code : Exit::How::signal;
    exit.value = static_cast<int>(std::clamp<std::int64_t>(
        number.whole, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
  }
  return true;
}

bool JsonLine::Reader::read_text(od::raw_json_string raw, std::string_view& text) {
  std::size_t size = 0;
  while (raw.raw()[size] != '"') size += raw.raw()[size] == '\\' ? 2U : 1U;
  auto* to = reinterpret_cast<std::uint8_t*>(texts_.room(size + LineSplitter::kPadding));
  if (parser_.unescape(raw, to).get(text) != simdjson::SUCCESS) return false;
  texts_.keep(text.size() + PackedWord::kLongest);
  return true;
}

/// On-demand parsing believes what nobody looks at. Everything is looked at, so that a broken line
/// is found broken also where it says nothing that is known.
bool JsonLine::Reader::well_formed(od::value& value, int depth) {
  constexpr int kDeepest = 500;
  if (depth > kDeepest) return false;
  const char first = value.raw_json_token().front();
  if (first == '[') {
    od::array array;
    if (value.get_array().get(array) != simdjson::SUCCESS) return false;
    for (auto next : array) {
      od::value element;
      if (std::move(next).get(element) != simdjson::SUCCESS) return false;
      if (!well_formed(element, depth + 1)) return false;
    }
    return true;
  }
  if (first == '{') {
    od::object object;
    if (value.get_object().get(object) != simdjson::SUCCESS) return false;
    for (auto next : object) {
      od::field field;
      std::string_view key;
      if (std::move(next).get(field) != simdjson::SUCCESS) return false;
      if (!read_text(field.key(), key) || !well_formed(field.value(), depth + 1)) return false;
    }
    return true;
  }
  FieldValue ignored;
  return read_scalar(value, ignored);
}

JsonLine::JsonLine() : reader_(std::make_unique<Reader>()) {}
JsonLine::~JsonLine() = default;

std::string_view JsonLine::read(std::string_view line, TraceFields& fields) {
  return reader_->read(line, fields);
}

}  // namespace tend
