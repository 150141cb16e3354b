// The path is followed through the spans of the text; then bytes are put in one place.
#include "store/foreign/json_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/quote.h"
#include "store/foreign/json_scan.h"

namespace tend {
namespace {

constexpr std::size_t kLongestPathText = 1024;

/// Takes the parts of a path off its text.
class PathReader {
 public:
  explicit PathReader(std::string_view text) : text_(text) {}

  Result<JsonPath> read() {
    JsonPath path;
    if (text_.empty() || text_.size() > kLongestPathText || !is_utf8(text_))
      return wrong("is no field path");
    while (at_ < text_.size()) {
      if (text_[at_] == '[') {
        auto step = entry();
        if (!step) return std::unexpected(step.error());
        path.steps.push_back(*std::move(step));
        continue;
      }
      if (!path.steps.empty() && text_[at_++] != '.') return wrong("has no '.' behind a ']'");
      std::string key = word(".[");
      if (key.empty()) return wrong("has an empty key");
      path.steps.push_back({.key = std::move(key), .where = {}, .entry = {}});
    }
    return path;
  }

 private:
  Result<JsonPath::Step> entry() {
    JsonPath::Step step;
    do {
      ++at_;
      std::string field = word("=,]");
      if (field.empty() || at_ == text_.size() || text_[at_] != '=') {
        return wrong("chooses an entry without FIELD=VALUE");
      }
      ++at_;
      step.where.push_back({.field = std::move(field), .value = word(",]")});
    } while (at_ < text_.size() && text_[at_] == ',');
    if (at_++ >= text_.size()) return wrong("has no ']' for its '['");
    return step;
  }
  /// Up to one of `ends`.
  std::string word(std::string_view ends) {
    std::string word;
    for (; at_ < text_.size() && !ends.contains(text_[at_]); ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      word += text_[at_];
    }
    return word;
  }
  [[nodiscard]] std::unexpected<Error> wrong(std::string_view what) const {
    return fail(in_quotes(text_) + " " + std::string(what));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string escaped(std::string_view word) {
  std::string text;
  for (const char c : word) {
    if (std::string_view(".[]=,\\").contains(c)) text += '\\';
    text += c;
  }
  return text;
}

class Editor {
 public:
  Editor(std::string_view text, const JsonPath& path, std::string_view value)
      : text_(text), path_(path), value_(value) {}

  Result<std::string> edit(const JsonSpan& root) {
    const auto place = find(root);
    if (!place) return std::unexpected(place.error());
    if (place->value != nullptr) return put(place->value->begin, place->value->end, value_);
    return with_new(*place->object, path_.steps.back().key);
  }
  Result<std::optional<std::string>> written(const JsonSpan& root) {
    const auto place = find(root);
    if (!place) return std::unexpected(place.error());
    if (place->value == nullptr) return std::nullopt;
    const JsonSpan& value = *place->value;
    return std::string(text_.substr(value.begin, value.end - value.begin));
  }

 private:
  /// The value; or where it is missing, the object that lacks it.
  struct Place {
    const JsonSpan* value = nullptr;
    const JsonSpan* object = nullptr;
  };
  Result<Place> find(const JsonSpan& root) {
    const JsonSpan* at = &root;
    for (std::size_t i = 0; i < path_.steps.size(); ++i) {
      const JsonPath::Step& step = path_.steps[i];
      const auto found = step.is_entry() ? entry_of(*at, step) : member_of(*at, step.key);
      if (!found) return std::unexpected(found.error());
      if (*found != nullptr) {
        at = &(*found)->value;
      } else if (i + 1 == path_.steps.size()) {
        return Place{.value = nullptr, .object = at};
      } else {
        return fail("there is no " + in_quotes(step.key) + " on the way to " + shown());
      }
    }
    return Place{.value = at, .object = nullptr};
  }
  [[nodiscard]] std::string shown() const { return in_quotes(format_json_path(path_)); }
  [[nodiscard]] std::string put(std::size_t begin, std::size_t end, std::string_view bytes) const {
    std::string text(text_.substr(0, begin));
    text += bytes;
    text += text_.substr(end);
    return text;
  }

  /// nullptr if there is none.
  [[nodiscard]] Result<const JsonMember*> member_of(const JsonSpan& object,
                                                    std::string_view key) const {
    if (object.kind != JsonSpan::Kind::object) {
      return fail("no object at " + place_in(text_, object.begin) + ", so no " + in_quotes(key));
    }
    const JsonMember* found = nullptr;
    for (const JsonMember& member : object.members) {
      if (member.key != key) continue;
      if (found != nullptr) {
        return fail("the key " + in_quotes(key) + " is there twice, again at " +
                    place_in(text_, member.key_begin));
      }
      found = &member;
    }
    return found;
  }

  [[nodiscard]] Result<const JsonMember*> entry_of(const JsonSpan& array,
                                                   const JsonPath::Step& step) const {
    if (array.kind != JsonSpan::Kind::array) {
      return fail("no array at " + place_in(text_, array.begin));
    }
    if (step.entry) {
      if (*step.entry >= array.members.size()) return fail("no entry of that number: " + shown());
      return &array.members[*step.entry];
    }
    const JsonMember* found = nullptr;
    for (const JsonMember& entry : array.members) {
      const auto wanted = is_wanted(entry.value, step);
      if (!wanted) return std::unexpected(wanted.error());
      if (!*wanted) continue;
      if (found != nullptr) return fail("more than one entry is " + shown());
      found = &entry;
    }
    if (found == nullptr) return fail("no entry is " + shown());
    return found;
  }
  [[nodiscard]] Result<bool> is_wanted(const JsonSpan& entry, const JsonPath::Step& step) const {
    if (entry.kind != JsonSpan::Kind::object) return false;
    for (const JsonPath::Where& where : step.where) {
      const auto field = member_of(entry, where.field);
      if (!field) return std::unexpected(field.error());
      if (*field == nullptr || !stands_for((*field)->value, where.value)) return false;
    }
    return true;
  }

  [[nodiscard]] bool stands_for(const JsonSpan& value, const std::string& wanted) const {
    switch (value.kind) {
      case JsonSpan::Kind::text:
        return plain_value(text_, value) == wanted;
      case JsonSpan::Kind::number:
        return ReadJson::parse(plain_value(text_, value)).dump() == wanted;
      case JsonSpan::Kind::word:
        return plain_value(text_, value) == wanted;
      default:
        return false;
    }
  }

  /// Behind the last member, spaced as the members before it are.
  [[nodiscard]] Result<std::string> with_new(const JsonSpan& object, std::string_view key) const {
    std::string bytes;
    append_json_text(bytes, key);
    if (object.members.empty()) {
      bytes += ':';
      bytes += value_;
      return put(object.begin + 1, object.begin + 1, bytes);
    }
    const std::size_t count = object.members.size();
    const JsonMember& last = object.members.back();
    std::string space;
    if (count > 1) {
      const std::size_t from = object.members[count - 2].value.end;
      space = text_.substr(from, last.key_begin - from);
    } else {
      space = ",";
      space += text_.substr(object.begin + 1, last.key_begin - object.begin - 1);
    }
    const auto colon = text_.substr(last.key_end, last.value.begin - last.key_end);
    const std::string member = space + bytes + std::string(colon) + std::string(value_);
    return put(last.value.end, last.value.end, member);
  }

  std::string_view text_;
  const JsonPath& path_;
  std::string_view value_;
};

}  // namespace

Result<JsonPath> parse_json_path(std::string_view text) { return PathReader(text).read(); }

std::string format_json_path(const JsonPath& path) {
  std::string text;
  for (const JsonPath::Step& step : path.steps) {
    if (step.entry) {
      text += fmt::format("[#{}]", *step.entry);
    } else if (step.is_entry()) {
      char before = '[';
      for (const auto& [field, value] : step.where) {
        text += before + escaped(field) + "=" + escaped(value);
        before = ',';
      }
      text += ']';
    } else {
      if (!text.empty()) text += '.';
      text += escaped(step.key);
    }
  }
  return text;
}

bool is_wanted_entry(const ReadJson& entry, const JsonPath::Step& step) {
  return entry.is_object() && std::ranges::all_of(step.where, [&](const JsonPath::Where& where) {
           const auto field = entry.find(where.field);
           if (field == entry.end()) return false;
           return field->is_string() ? field->get_ref<const std::string&>() == where.value
                                     : field->is_primitive() && field->dump() == where.value;
         });
}

const ReadJson* find_path(const ReadJson& json, const JsonPath& path) {
  const ReadJson* at = &json;
  for (const JsonPath::Step& step : path.steps) {
    if (step.is_entry()) {
      if (!at->is_array()) return nullptr;
      const ReadJson* found = nullptr;
      for (std::size_t i = 0; i < at->size(); ++i) {
        const ReadJson& entry = (*at)[i];
        if (step.entry ? *step.entry != i : !is_wanted_entry(entry, step)) continue;
        if (found != nullptr) return nullptr;
        found = &entry;
      }
      at = found;
    } else {
      const auto found = at->is_object() ? at->find(step.key) : at->end();
      at = at->is_object() && found != at->end() ? &*found : nullptr;
    }
    if (at == nullptr) return nullptr;
  }
  return at;
}

Result<std::optional<std::string>> written_value(std::string_view text, const JsonPath& path) {
  const auto root = scan_json(text);
  if (!root) return std::unexpected(root.error());
  return Editor(text, path, "").written(*root);
}

Result<std::string> edit_json(std::string_view text, const JsonPath& path, std::string_view value) {
  if (const auto good = scan_json(value); !good) {
    return fail("the new value is " + good.error().text);
  }
  const auto root = scan_json(text);
  if (!root) return std::unexpected(root.error());
  return Editor(text, path, value).edit(*root);
}

}  // namespace tend
