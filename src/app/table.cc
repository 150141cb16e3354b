// Plain searches: the table is short, and asked a few times in a run.
#include "app/table.h"

#include <algorithm>

#include "judge/policy.h"

namespace tend {
namespace {

std::string_view first_word(std::string_view name) { return name.substr(0, name.find(' ')); }

std::string_view second_word(std::string_view name) {
  const std::size_t space = name.find(' ');
  return space == std::string_view::npos ? std::string_view{} : name.substr(space + 1);
}

std::vector<std::string_view> limit_words() {
  std::vector<std::string_view> words;
  words.reserve(kLimitKeys.size() + 1);
  for (const LimitKey& key : kLimitKeys) words.push_back(key.name);
  words.emplace_back("beats");
  return words;
}

}  // namespace

std::string_view program_of(std::span<const CommandRow> table) {
  return table.empty() ? kTend : table.front().program;
}

const CommandRow* find_command(std::span<const CommandRow> table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &CommandRow::name);
  return found == table.end() ? nullptr : &*found;
}

bool is_group(std::span<const CommandRow> table, std::string_view word) {
  return !second_words(table, word).empty();
}

std::vector<std::string_view> first_words(std::span<const CommandRow> table) {
  std::vector<std::string_view> words;
  for (const CommandRow& row : table) {
    const std::string_view word = first_word(row.name);
    if (std::ranges::find(words, word) == words.end()) words.push_back(word);
  }
  return words;
}

std::vector<std::string_view> second_words(std::span<const CommandRow> table,
                                           std::string_view group) {
  std::vector<std::string_view> words;
  for (const CommandRow& row : table) {
    const std::string_view second = second_word(row.name);
    if (!second.empty() && first_word(row.name) == group) words.push_back(second);
  }
  return words;
}

std::string describe_first_word(std::span<const CommandRow> table, std::string_view word) {
  if (const CommandRow* row = find_command(table, word)) return std::string(row->summary);
  return "Commands: " + joined(second_words(table, word));
}

std::vector<OptionRow> all_options(const CommandRow& row) {
  std::vector<OptionRow> options(row.options.begin(), row.options.end());
  options.push_back(kHelpOption);
  return options;
}

std::string placeholder(const PositionalRow& row) {
  const std::string name = std::string(row.name) + (row.repeats ? "..." : "");
  return row.required ? name : "[" + name + "]";
}

std::string with_value(const OptionRow& row) {
  std::string text = "--" + std::string(row.name);
  if (row.value_is_optional) return text.append("[=").append(row.value).append("]");
  if (row.kind != ValueKind::none) text.append(" ").append(row.value);
  return text;
}

std::vector<std::string_view> words_of(ValueKind kind, std::span<const std::string_view> choices) {
  switch (kind) {
    case ValueKind::policy:
      return {kBuiltInPolicies.begin(), kBuiltInPolicies.end()};
    case ValueKind::limit:
      return limit_words();
    case ValueKind::choice:
      return {choices.begin(), choices.end()};
    case ValueKind::none:
    case ValueKind::text:
    case ValueKind::agent:
    case ValueKind::file:
    case ValueKind::command:
      break;
  }
  return {};
}

std::string explain(const OptionRow& row) {
  std::vector<std::string_view> words = words_of(row.kind, row.choices);
  if (words.empty()) return std::string(row.help);
  if (takes_file(row.kind)) words.emplace_back("a file");
  return std::string(row.help) + " (" + in_words(words) + ")";
}

std::string joined(std::span<const std::string_view> words, std::string_view suffix) {
  std::string text;
  for (const std::string_view word : words) {
    text.append(text.empty() ? "" : " ").append(word).append(suffix);
  }
  return text;
}

std::string in_words(std::span<const std::string_view> choices) {
  std::string text;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i > 0) text += i + 1 == choices.size() ? " or " : ", ";
    text += choices[i];
  }
  return text;
}

}  // namespace tend
