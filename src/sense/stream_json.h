// What the adapters need of simdjson: one line's object, and its fields without exceptions. What is
// missing or of another type is empty.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "sense/line_splitter.h"

namespace tend::stream {

namespace od = simdjson::ondemand;
static_assert(LineSplitter::kPadding >= simdjson::SIMDJSON_PADDING);

/// Texts of a line are valid until the next one is opened.
class Reader {
 public:
  /// nullopt for a line that is no JSON object.
  std::optional<od::object> open(std::string_view line) {
    const simdjson::padded_string_view padded(line.data(), line.size(),
                                              line.size() + LineSplitter::kPadding);
    od::object object;
    if (parser_.iterate(padded).get(document_) != simdjson::SUCCESS) return std::nullopt;
    if (document_.get_object().get(object) != simdjson::SUCCESS) return std::nullopt;
    return object;
  }

 private:
  od::parser parser_;
  od::document document_;
};

// Fields may be asked for in any order, but an object within is to be done with before another
// field of the one around it is asked for.

inline std::optional<od::value> field(od::object& object, std::string_view name) {
  od::value value;
  if (object.find_field_unordered(name).get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

inline std::optional<od::object> object_in(od::object& object, std::string_view name) {
  od::object found;
  auto value = field(object, name);
  if (!value || value->get_object().get(found) != simdjson::SUCCESS) return std::nullopt;
  return found;
}

inline std::string_view text_in(od::object& object, std::string_view name) {
  std::string_view text;
  auto value = field(object, name);
  if (!value || value->get_string().get(text) != simdjson::SUCCESS) return {};
  return text;
}

inline std::optional<double> number_in(od::object& object, std::string_view name) {
  double number = 0;
  auto value = field(object, name);
  if (!value || value->get_double().get(number) != simdjson::SUCCESS) return std::nullopt;
  return number;
}

inline bool flag_in(od::object& object, std::string_view name) {
  bool flag = false;
  auto value = field(object, name);
  return value && value->get_bool().get(flag) == simdjson::SUCCESS && flag;
}

/// The value as it is written; empty if it is cut off.
inline std::string_view raw(od::value value) {
  std::string_view text;
  if (simdjson::to_json_string(value).get(text) != simdjson::SUCCESS) return {};
  return text;
}

inline std::string_view raw_in(od::object& object, std::string_view name) {
  auto value = field(object, name);
  return value ? raw(*value) : std::string_view{};
}

/// Calls `tell` with each object of an array; what is none is passed over.
template <class Tell>
void for_each_object(od::value value, Tell tell) {
  od::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) return;
  for (auto next : array) {
    od::value element;
    if (std::move(next).get(element) != simdjson::SUCCESS) return;
    od::object object;
    if (element.get_object().get(object) == simdjson::SUCCESS) tell(object);
  }
}

}  // namespace tend::stream
