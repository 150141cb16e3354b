// Words flow into lines of 80 columns; terms and what they mean stand in two columns.
#include "app/help.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "app/man.h"
#include "app/table.h"
#include "app/version.h"
#include "base/quote.h"

namespace tend {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kWidestTerm = 24;  // of a list; a wider term has a line of its own

constexpr std::string_view kAboutTend =
    "Tend watches over long-running agents: signals in, verdict out.";
constexpr std::string_view kAboutOthers =
    "Tend by another name: its tasks, in the dialect of those who call it so.";
constexpr std::string_view kTendExits =
    "Exit status: 0 yes, 1 no,\n2 usage or unreadable, 3 something needs you.";
constexpr std::string_view kOtherExits = "Exit status: 0 yes, 1 no.";

/// Appends words to `text`, whose last line is `column` wide, and breaks lines before kWidth;
/// further lines are indented.
void flow(std::string& text, std::size_t column, std::size_t indent,
          std::span<const std::string> words) {
  bool line_has_word = false;
  for (const std::string& word : words) {
    if (line_has_word && column + 1 + word.size() > kWidth) {
      text.append("\n").append(indent, ' ');
      column = indent;
    } else if (line_has_word) {
      text += ' ';
      ++column;
    }
    text += word;
    column += word.size();
    line_has_word = true;
  }
  text += '\n';
}

std::vector<std::string> split(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + separator.size(), text.size()));
  }
  return parts;
}

void add_paragraphs(std::string& text, std::string_view paragraphs) {
  for (const std::string& paragraph : split(paragraphs, "\n\n")) {
    text += '\n';
    flow(text, 0, 0, split(paragraph, " "));
  }
}

struct Item {
  std::string term;
  std::string about;
};

/// A heading and below it, in two columns, terms and what they mean.
void add_list(std::string& text, std::string_view heading, std::span<const Item> items) {
  if (items.empty()) return;
  text.append("\n").append(heading).append(":\n");
  std::size_t widest = 0;
  for (const Item& item : items) {
    if (item.term.size() <= kWidestTerm) widest = std::max(widest, item.term.size());
  }
  const std::size_t indent = 2 + widest + 2;
  for (const Item& item : items) {
    text.append("  ").append(item.term);
    if (item.term.size() > widest) {
      text.append("\n").append(indent, ' ');
    } else {
      text.append(indent - 2 - item.term.size(), ' ');
    }
    flow(text, indent, indent, split(item.about, " "));
  }
}

Item option_item(const OptionRow& row) {
  const std::string letter = row.letter == 0 ? "    " : std::string{'-', row.letter, ',', ' '};
  return {letter + with_value(row), explain(row)};
}

std::vector<std::string> synopsis(const CommandRow& row) {
  std::vector<std::string> words;
  for (const OptionRow& option : row.options) {
    words.push_back("[" + with_value(option) + "]" + (option.repeats ? "..." : ""));
  }
  for (const PositionalRow& positional : row.positionals) words.push_back(placeholder(positional));
  return words;
}

std::string command_help(const CommandRow& row) {
  std::string text = fmt::format("Usage: {} {}", row.program, row.name);
  const std::vector<std::string> words = synopsis(row);
  if (!words.empty()) text += ' ';
  flow(text, text.size(), text.size(), words);
  text.append("\n").append(row.summary).append(".\n");
  add_paragraphs(text, row.text);

  std::vector<Item> items;
  for (const PositionalRow& positional : row.positionals) {
    items.push_back({placeholder(positional), std::string(positional.help)});
  }
  add_list(text, "Arguments", items);
  items.clear();
  for (const OptionRow& option : all_options(row)) items.push_back(option_item(option));
  add_list(text, "Options", items);

  if (!row.examples.empty()) text += "\nExamples:\n";
  for (const std::string_view example : row.examples) {
    text.append("  ").append(example).append("\n");
  }
  return text;
}

std::string group_help(std::span<const CommandRow> table, std::string_view group) {
  const std::string name(group);
  const std::string_view program = program_of(table);
  std::string text = fmt::format("Usage: {} {} COMMAND [ARGUMENT...]\n", program, name);
  std::vector<Item> items;
  for (const std::string_view second : second_words(table, group)) {
    const CommandRow* row = find_command(table, name + " " + std::string(second));
    items.push_back({std::string(second), std::string(row->summary)});
  }
  add_list(text, "Commands", items);
  text += fmt::format("\n'{} {} COMMAND --help' says more about a command.\n", program, name);
  return text;
}

std::string overview(std::span<const CommandRow> table) {
  const std::string_view program = program_of(table);
  std::string text = fmt::format("Usage: {} COMMAND [ARGUMENT...]\n\n{}\n", program,
                                 program == kTend ? kAboutTend : kAboutOthers);
  std::vector<Item> items;
  for (const CommandRow& row : table) {
    items.push_back({std::string(row.name), std::string(row.summary)});
  }
  add_list(text, "Commands", items);
  const Item options[] = {option_item(kHelpOption), option_item(kVersionOption)};
  add_list(text, "Options", options);
  text += fmt::format("\n'{} COMMAND --help' says more about a command. {}\n", program,
                      program == kTend ? kTendExits : kOtherExits);
  return text;
}

}  // namespace

std::string help_text(std::span<const CommandRow> table, const Topic& topic) {
  if (topic.command != nullptr) {
    const std::string_view name = topic.command->name;
    return command_help(*topic.command) +
           (is_group(table, name) ? "\n" + group_help(table, name) : "");
  }
  return topic.group.empty() ? overview(table) : group_help(table, topic.group);
}

std::string version_line(std::string_view program) {
  return std::string(program) + " " + std::string(tend_version()) + " (commit " +
         std::string(tend_commit()) + ")\n";
}

int help_command(const Arguments& arguments, World& world) {
  if (arguments.has("man")) {
    world.out.write(man_page(commands(), tend_version()));
    return kExitYes;
  }
  const std::vector<std::string_view> words(arguments.positionals.begin(),
                                            arguments.positionals.end());
  const auto topic = find_topic(commands(), words);
  if (!topic) {
    world.err.write(topic.error().text + "\n");
    return kExitUsage;
  }
  if (topic->words < words.size()) {
    world.err.write("tend help: unexpected argument " + in_quotes(words[topic->words]) +
                    " (see 'tend --help')\n");
    return kExitUsage;
  }
  world.out.write(help_text(commands(), *topic));
  return kExitYes;
}

}  // namespace tend
