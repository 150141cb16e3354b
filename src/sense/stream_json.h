// What the adapters need of simdjson: one line's object, and its fields without exceptions. What is
// missing or of another type is empty.
#pragma once

#include <simdjson.h>

#include <cmath>
#include <cstddef>
#include <limits>
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
    if (parser_.capacity() > kKept && line.size() <= kKept) parser_ = od::parser();
    const simdjson::padded_string_view padded(line.data(), line.size(),
                                              line.size() + LineSplitter::kPadding);
    od::object object;
    if (parser_.iterate(padded).get(document_) != simdjson::SUCCESS) return std::nullopt;
    if (document_.get_object().get(object) != simdjson::SUCCESS) return std::nullopt;
    return object;
  }

 private:
  /// Room for longer lines is given back: one huge line is not for ever.
  static constexpr std::size_t kKept = std::size_t{1} * 1024 * 1024;

  od::parser parser_;
  od::document document_;
};

// Fields may be asked for in any order, but an object within is to be done with before another
// field of the one around it is asked for. A text is asked for once: the parser has room to write
// out each escaped one a single time.

/// Whether the line is sound as far as it was read. simdjson gives up a line where it is broken,
/// and what is left of it may not be asked any more.
class Soundness : public od::object {
 public:
  static bool of(const od::object& part) { return Soundness(part).iter.json_iter().is_alive(); }

 private:
  explicit Soundness(const od::object& part) : od::object(part) {}
};

/// Looks from the object's beginning: simdjson's search that goes on where the last one ended takes
/// for granted that what it has passed is sound, and brackets that do not match are not.
inline std::optional<od::value> field(od::object& object, std::string_view name) {
  od::value value;
  if (!Soundness::of(object) || object.reset().error() != simdjson::SUCCESS) return std::nullopt;
  if (object.find_field(name).get(value) != simdjson::SUCCESS) return std::nullopt;
  return value;
}

inline std::optional<od::object> object_in(od::object& object, std::string_view name) {
  od::object found;
  auto value = field(object, name);
  if (!value || value->get_object().get(found) != simdjson::SUCCESS) return std::nullopt;
  return found;
}

/// A text without escapes stays where it is, in the line.
inline std::string_view text_in(od::object& object, std::string_view name) {
  auto value = field(object, name);
  if (!value) return {};
  const std::string_view token = value->raw_json_token();
  if (!token.starts_with('"')) return {};
  const std::string_view plain = token.substr(1, token.find('"', 1) - 1);
  if (plain.size() + 1 < token.size() && !plain.contains('\\')) return plain;
  std::string_view text;
  if (value->get_string().get(text) != simdjson::SUCCESS) return {};
  return text;
}

inline std::optional<double> number_in(od::object& object, std::string_view name) {
  double number = 0;
  auto value = field(object, name);
  if (!value || value->get_double().get(number) != simdjson::SUCCESS) return std::nullopt;
  return number;
}

/// A whole number that fits.
inline std::optional<int> int_in(od::object& object, std::string_view name) {
  const auto number = number_in(object, name);
  constexpr double kMost = std::numeric_limits<int>::max();
  if (!number || !(std::abs(*number) <= kMost)) return std::nullopt;
  return static_cast<int>(*number);
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

inline constexpr int kMostObjects = 1024;  // of one array that are looked at

/// Calls `tell` with each object of an array; what is none is passed over.
template <class Tell>
void for_each_object(od::value value, Tell tell) {
  od::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) return;
  int left = kMostObjects;
  for (auto next : array) {
    if (left-- == 0) return;
    od::value element;
    if (std::move(next).get(element) != simdjson::SUCCESS) return;
    od::object object;
    if (element.get_object().get(object) != simdjson::SUCCESS) continue;
    tell(object);
    if (!Soundness::of(object)) return;
  }
}

}  // namespace tend::stream
