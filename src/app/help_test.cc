// The help of the real table keeps its form, and a small table shows the layout in full.
#include "app/help.h"

#include <gtest/gtest.h>

#include "app/table.h"

namespace tend {
namespace {

/// The help on every topic there is.
std::vector<std::string> all_help() {
  std::vector<std::string> texts = {help_text(commands(), {})};
  for (const CommandRow& row : commands()) {
    texts.push_back(help_text(commands(), {.command = &row}));
  }
  for (const std::string_view word : first_words(commands())) {
    if (is_group(commands(), word)) texts.push_back(help_text(commands(), {.group = word}));
  }
  return texts;
}

TEST(Help, fits_in_80_columns) {
  for (const std::string& text : all_help()) {
    std::size_t start = 0;
    for (std::size_t end = 0; (end = text.find('\n', start)) != std::string::npos;) {
      const std::string line = text.substr(start, end - start);
      EXPECT_LE(line.size(), 80U) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
      start = end + 1;
    }
    EXPECT_EQ(start, text.size()) << "the last line has no end";
  }
}

TEST(Help, names_every_command_in_the_overview) {
  const std::string text = help_text(commands(), {});
  for (const CommandRow& row : commands()) {
    EXPECT_NE(text.find("\n  " + std::string(row.name) + " "), std::string::npos) << row.name;
  }
}

TEST(Help, names_every_option_and_argument_of_a_command) {
  for (const CommandRow& row : commands()) {
    const std::string text = help_text(commands(), {.command = &row});
    for (const OptionRow& option : all_options(row)) {
      EXPECT_NE(text.find(" " + with_value(option)), std::string::npos) << option.name;
    }
    for (const PositionalRow& positional : row.positionals) {
      EXPECT_NE(text.find("  " + placeholder(positional) + "  "), std::string::npos);
    }
  }
}

TEST(Help, shows_a_value_that_may_be_left_out_in_brackets) {
  const std::string text = help_text(commands(), {.command = find_command(commands(), "list")});
  EXPECT_NE(text.find("[--heartbeat-stale[=DUR]]"), std::string::npos) << text;
  EXPECT_NE(text.find("      --heartbeat-stale[=DUR]"), std::string::npos) << text;
}

TEST(Help, lists_the_commands_of_a_group_that_is_a_command_itself) {
  const std::string text = help_text(commands(), {.command = find_command(commands(), "outbox")});
  EXPECT_TRUE(text.starts_with("Usage: tend outbox [--state STATE]")) << text;
  EXPECT_NE(text.find("\nCommands:\n  show   Show one notice"), std::string::npos) << text;
}

TEST(Help, lays_a_command_out_in_full) {
  static constexpr OptionRow kOptions[] = {
      {.name = "policy", .kind = ValueKind::policy, .value = "NAME", .help = "judge by it"},
      {.name = "a-very-long-option-name",
       .letter = 'a',
       .kind = ValueKind::text,
       .value = "TEXT",
       .help = "stands on a line of its own",
       .repeats = true},
  };
  static constexpr PositionalRow kFile[] = {
      {.name = "FILE", .help = "what to read; one sentence that is too long for a single line"}};
  static constexpr std::string_view kExamples[] = {"tend look --policy worker"};
  static constexpr CommandRow kLook[] = {{.name = "look",
                                          .summary = "Look at it",
                                          .text = "First paragraph.\n\nSecond paragraph.",
                                          .positionals = kFile,
                                          .options = kOptions,
                                          .examples = kExamples}};
  EXPECT_EQ(help_text(kLook, {.command = kLook}),
            "Usage: tend look [--policy NAME] [--a-very-long-option-name TEXT]... [FILE]\n"
            "\n"
            "Look at it.\n"
            "\n"
            "First paragraph.\n"
            "\n"
            "Second paragraph.\n"
            "\n"
            "Arguments:\n"
            "  [FILE]  what to read; one sentence that is too long for a single line\n"
            "\n"
            "Options:\n"
            "      --policy NAME  judge by it (agent, worker, critical, overnight, plain or a\n"
            "                     file)\n"
            "  -a, --a-very-long-option-name TEXT\n"
            "                     stands on a line of its own\n"
            "  -h, --help         show this help\n"
            "\n"
            "Examples:\n"
            "  tend look --policy worker\n");
}

}  // namespace
}  // namespace tend
