// One pass from left to right, by recursion that is bounded. What has a backslash in it, and
// numbers with an exponent, are left to the library to accept: its rules are those of all our
// readers.
#include "store/foreign/json_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "store/foreign/json_edit.h"
#include "store/json.h"

namespace tend {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Result<JsonSpan> whole() {
    skip_space();
    JsonSpan root;
    if (!value(root, 0)) return refuse();
    skip_space();
    if (at_ != text_.size()) {
      wrong("more than one value");
      return refuse();
    }
    return root;
  }

 private:
  [[nodiscard]] char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char wanted) {
    if (at_ >= text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").contains(text_[at_])) ++at_;
  }
  bool wrong(std::string_view what) { return wrong(what, at_); }
  bool wrong(std::string_view what, std::size_t at) {
    problem_ = what;
    problem_at_ = at;
    return false;
  }
  [[nodiscard]] std::unexpected<Error> refuse() const {
    return fail(fmt::format("no JSON: {} at {}", problem_, place_in(text_, problem_at_)));
  }

  bool value(JsonSpan& into, std::size_t depth) {
    if (depth > kDeepestEdited) return wrong("too deep");
    into.begin = at_;
    const bool good = any_value(into, depth);
    into.end = at_;
    return good;
  }
  bool any_value(JsonSpan& into, std::size_t depth) {
    if (at_ == text_.size()) return wrong("the text ends");
    const char c = next();
    if (c == '{' || c == '[') return members(into, depth);
    if (c == '"') {
      into.kind = JsonSpan::Kind::text;
      return text();
    }
    if (c == '-' || is_digit(c)) {
      into.kind = JsonSpan::Kind::number;
      return number();
    }
    for (const std::string_view word : {"true", "false", "null"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return true;
    }
    return wrong("no value");
  }

  bool members(JsonSpan& into, std::size_t depth) {
    const bool is_object = take('{');
    if (!is_object) ++at_;
    into.kind = is_object ? JsonSpan::Kind::object : JsonSpan::Kind::array;
    const char closing = is_object ? '}' : ']';
    skip_space();
    if (take(closing)) return true;
    do {
      skip_space();
      JsonMember& member = into.members.emplace_back();
      if (is_object && !key(member)) return false;
      if (!is_object) member.key_begin = member.key_end = at_;
      if (!value(member.value, depth + 1)) return false;
      skip_space();
    } while (take(','));
    if (take(closing)) return true;
    if (at_ == text_.size()) return wrong("the text ends");
    return wrong(is_object ? "neither ',' nor '}'" : "neither ',' nor ']'");
  }
  bool key(JsonMember& member) {
    member.key_begin = at_;
    if (at_ == text_.size()) return wrong("the text ends");
    if (next() != '"') return wrong("no key");
    if (!text()) return false;
    member.key_end = at_;
    const JsonSpan name{
        .kind = JsonSpan::Kind::text, .begin = member.key_begin, .end = at_, .members = {}};
    member.key = plain_value(text_, name);
    skip_space();
    if (!take(':')) return wrong("no ':'");
    skip_space();
    return true;
  }

  bool text() {
    const std::size_t begin = at_++;
    bool escaped = false;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (static_cast<unsigned char>(text_[at_]) < 0x20) return wrong("a control character");
      if (text_[at_] == '\\') {
        escaped = true;
        ++at_;
      }
      ++at_;
    }
    at_ = std::min(at_, text_.size());
    if (!take('"')) return wrong("the text ends");
    const bool good = !escaped || ReadJson::accept(text_.substr(begin, at_ - begin));
    return good || wrong("a wrong escape", begin);
  }

  bool number() {
    const std::size_t begin = at_;
    take('-');
    if (!take('0') && !digits()) return wrong("no number", begin);
    if (take('.') && !digits()) return wrong("no number", begin);
    const bool has_exponent = take('e') || take('E');
    if (has_exponent) {
      if (!take('+')) take('-');
      if (!digits()) return wrong("no number", begin);
    }
    // Out of the range of a double, the library refuses it.
    const std::string_view written = text_.substr(begin, at_ - begin);
    const bool fits = (!has_exponent && written.size() < 300) || ReadJson::accept(written);
    return fits || wrong("a number out of range", begin);
  }
  bool digits() {
    const std::size_t begin = at_;
    while (is_digit(next())) ++at_;
    return at_ > begin;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view problem_;
  std::size_t problem_at_ = 0;
};

/// The first byte that is no UTF-8.
std::size_t first_not_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t size = 1;
    while (size <= 4 && !is_utf8(text.substr(at, size))) ++size;
    if (size > 4) break;
    at += size;
  }
  return at;
}

}  // namespace

std::string place_in(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  const std::size_t line_end = before.rfind('\n');
  const std::size_t line_begin = line_end == std::string_view::npos ? 0 : line_end + 1;
  return fmt::format("line {}, column {}", std::ranges::count(before, '\n') + 1,
                     at - line_begin + 1);
}

Result<JsonSpan> scan_json(std::string_view text) {
  if (text.size() > kLargestEdited) {
    return fail(fmt::format("the text is larger than {} bytes", kLargestEdited));
  }
  if (!is_utf8(text)) return fail("no UTF-8 at " + place_in(text, first_not_utf8(text)));
  return Scanner(text).whole();
}

std::string plain_value(std::string_view text, const JsonSpan& value) {
  const std::string_view written = text.substr(value.begin, value.end - value.begin);
  if (value.kind != JsonSpan::Kind::text) return std::string(written);
  if (!written.contains('\\')) return std::string(written.substr(1, written.size() - 2));
  return ReadJson::parse(written, nullptr, false).get<std::string>();
}

}  // namespace tend
