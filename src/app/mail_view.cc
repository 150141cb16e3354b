// What others wrote is shown with its lines, and without anything that a terminal would obey.
#include "app/mail_view.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/agent_json.h"
#include "app/columns.h"
#include "app/when.h"
#include "base/quote.h"

namespace tend {
namespace {

using Json = nlohmann::ordered_json;

Json time_json(const std::optional<WallTime>& at) { return at ? calendar_json(*at) : Json(); }

std::string_view state_word(const Letter& letter) {
  if (letter.acked_at) return "acked";
  return letter.read_at ? "read" : "unread";
}

std::string line_for_people(std::string_view line) {
  std::string text;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t tab = std::min(line.find('\t', begin), line.size());
    if (begin > 0) text += '\t';
    text += on_one_line(line.substr(begin, tab - begin));
    begin = tab + 1;
  }
  return text + "\n";
}

}  // namespace

std::string text_for_people(std::string_view body) {
  std::string text;
  while (!body.empty()) {
    const std::size_t end = std::min(body.find('\n'), body.size());
    std::string_view line = body.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    text += line_for_people(line);
    body.remove_prefix(std::min(end + 1, body.size()));
  }
  return text;
}

Json letter_json(const Letter& letter) {
  return {{"id", letter.id},
          {"thread", letter.thread},
          {"reply_to", letter.reply_to ? Json(*letter.reply_to) : Json()},
          {"from", letter.from},
          {"to", letter.to},
          {"subject", letter.subject},
          {"body", letter.body},
          {"at", calendar_json(letter.at)},
          {"read_at", time_json(letter.read_at)},
          {"acked_at", time_json(letter.acked_at)},
          {"key", letter.key ? Json(*letter.key) : Json()}};
}

std::string letter_in_words(const Letter& letter) {
  std::string words = fmt::format("letter {}, {}\n", letter.id, state_word(letter));
  const auto line = [&](std::string_view name, const std::string& text) {
    words += fmt::format("  {:<9}{}\n", name, text);
  };
  line("from", on_one_line(letter.from));
  line("to", on_one_line(letter.to));
  line("sent", fmt::format("{} {} UTC", date_label(letter.at), clock_label(letter.at)));
  if (letter.reply_to) {
    line("reply to", fmt::format("{} (thread {})", *letter.reply_to, letter.thread));
  }
  line("subject", on_one_line(letter.subject));
  if (!letter.body.empty()) words += "\n" + text_for_people(letter.body);
  return words;
}

std::string letters_for_people(std::span<const Letter> letters, const Look& look, std::size_t width,
                               WallTime now) {
  Columns columns({{"LETTER", true}, {"STATE"}, {"FROM"}, {"AGE", true}, {"SUBJECT"}});
  for (const Letter& letter : letters) {
    const Ink ink = letter.read_at ? Ink::plain : Ink::bold;
    columns.add({{std::to_string(letter.id)},
                 {std::string(state_word(letter)), ink},
                 {on_one_line(letter.from)},
                 {age_label(letter.at, now)},
                 {on_one_line(letter.subject), ink}});
  }
  return columns.text(look, width);
}

}  // namespace tend
