// One pass over the bytes. UTF-8 stays as it is, except for its own control characters (U+0080 to
// U+009F), which some terminals obey.
#include "base/quote.h"

namespace tend {
namespace {

constexpr std::size_t kMostQuoted = 60;

unsigned char byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

bool is_control(std::string_view text, std::size_t at) {
  const unsigned char byte = byte_at(text, at);
  if (byte < 0x20 || byte == 0x7f) return true;
  if (byte == 0xc2) return byte_at(text, at + 1) >= 0x80 && byte_at(text, at + 1) < 0xa0;
  return false;
}

bool continues_a_character(unsigned char byte) { return (byte & 0xc0U) == 0x80U; }

void append_escaped(std::string& out, unsigned char byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\x";
  out += kDigits[byte >> 4U];
  out += kDigits[byte & 0xfU];
}

}  // namespace

std::string on_one_line(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_control(text, i)) {
      append_escaped(out, byte_at(text, i));
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string in_quotes(std::string_view text) {
  std::size_t shown = text.size();
  if (shown > kMostQuoted) {
    shown = kMostQuoted;
    while (shown > 0 && continues_a_character(byte_at(text, shown))) --shown;
  }
  const std::string_view mark = shown < text.size() ? "..." : "";
  return "'" + on_one_line(text.substr(0, shown)) + std::string(mark) + "'";
}

}  // namespace tend
