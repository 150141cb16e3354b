// Colours, columns and times; see look.h.
#include "app/look.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/duration.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

bool is_set(const Environment& environment, const std::string& name) {
  return !environment.variable(name).value_or("").empty();
}

bool takes_colours(const Output& out, const Environment& environment) {
  if (is_set(environment, "NO_COLOR")) return false;
  const std::string force = environment.variable("CLICOLOR_FORCE").value_or("");
  if (!force.empty() && force != "0") return true;
  return out.is_terminal() && environment.variable("TERM") != "dumb";
}

bool takes_unicode(const Environment& environment) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string locale = environment.variable(name).value_or("");
    if (locale.empty()) continue;
    return locale.find("UTF-8") != locale.npos || locale.find("utf8") != locale.npos;
  }
  return false;
}

std::string_view code_of(Ink ink) {
  constexpr std::array<std::string_view, 9> kCodes{"0",  "1",  "2",  "32", "33",
                                                   "31", "35", "34", "36"};
  return kCodes[static_cast<std::size_t>(ink)];
}

}  // namespace

Ink ink_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::starting:
      return Ink::cyan;
    case Verdict::working:
    case Verdict::finished:
      return Ink::green;
    case Verdict::waiting:
    case Verdict::idle:
      return Ink::blue;
    case Verdict::suspect:
      return Ink::yellow;
    case Verdict::stalled:
    case Verdict::dead:
      return Ink::red;
    case Verdict::orphaned:
    case Verdict::looping:
      return Ink::magenta;
    case Verdict::unknown:
      break;
  }
  return Ink::faint;
}

Look::Look(const Output& out, const Environment& environment)
    : colours_(takes_colours(out, environment)),
      unicode_(takes_unicode(environment)),
      columns_(static_cast<std::size_t>(std::max(out.columns(), 40))) {}

std::string Look::in(Ink ink, std::string_view text) const {
  if (!colours_ || ink == Ink::plain) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code_of(ink), text);
}

std::string Look::cut(std::string_view text, std::size_t width) const {
  if (width_of(text) <= width) return std::string(text);
  const std::string_view sign = unicode_ ? "…" : "...";
  std::size_t left = width - std::min(width, width_of(sign));
  std::size_t end = 0;
  while (left > 0 && end < text.size()) {
    ++end;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
    --left;
  }
  return std::string(text.substr(0, end)) + std::string(sign);
}

void Look::flow(std::string& text, std::size_t column, std::size_t indent,
                std::string_view words) const {
  bool first_on_line = true;
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    const std::string_view word = words.substr(0, end);
    words.remove_prefix(std::min(end + 1, words.size()));
    if (word.empty()) continue;
    if (!first_on_line && column + 1 + width_of(word) > columns_) {
      text.append("\n").append(indent, ' ');
      column = indent;
    } else if (!first_on_line) {
      text += ' ';
      ++column;
    }
    text += word;
    column += width_of(word);
    first_on_line = false;
  }
  text += '\n';
}

std::string time_label(Duration since_start) {
  if (since_start < 1min) return format_seconds(since_start);
  const auto part = [&](Duration whole, Duration unit) { return since_start % whole / unit; };
  if (since_start < 1h) return fmt::format("{}m {:02}s", since_start / 1min, part(1min, 1s));
  if (since_start < 24h) return fmt::format("{}h {:02}m", since_start / 1h, part(1h, 1min));
  return fmt::format("{}d {:02}h", since_start / 24h, part(24h, 1h));
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string right_aligned(std::string_view text, std::size_t width) {
  const std::size_t taken = width_of(text);
  return std::string(taken < width ? width - taken : 0, ' ').append(text);
}

std::string left_aligned(std::string_view text, std::size_t width) {
  const std::size_t taken = width_of(text);
  return std::string(text).append(taken < width ? width - taken : 0, ' ');
}

}  // namespace tend
