// The table's own rules: what every row has to keep, so that all that is made from it reads well.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "app/command.h"
#include "app/parse.h"
#include "app/table.h"

namespace tend {
namespace {

bool is_word(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

/// The words behind "tend" in an example, up to what only a shell understands.
std::vector<std::string_view> words_of_example(std::string_view example) {
  std::vector<std::string_view> words;
  example.remove_prefix(example.find("tend ") + 5);
  while (!example.empty()) {
    const bool quoted = example.starts_with('"');
    if (quoted) example.remove_prefix(1);
    const std::size_t end = std::min(example.find_first_of(quoted ? "\"" : " )"), example.size());
    const std::string_view word = example.substr(0, end);
    if (quoted && end + 1 < example.size()) example.remove_prefix(1);  // the blank behind it
    if (word == "|" || word == ">" || word == "<" || word.empty()) break;
    words.push_back(word);
    example.remove_prefix(std::min(end + 1, example.size()));
  }
  return words;
}

TEST(Commands, have_names_of_one_word_or_two_and_each_once) {
  std::set<std::string_view> names;
  for (const CommandRow& row : commands()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    const std::size_t space = row.name.find(' ');
    EXPECT_TRUE(is_word(row.name.substr(0, space))) << row.name;
    if (space != std::string_view::npos) {
      EXPECT_TRUE(is_word(row.name.substr(space + 1))) << row.name;
    }
  }
}

TEST(Commands, have_a_body_a_summary_and_a_text) {
  for (const CommandRow& row : commands()) {
    EXPECT_NE(row.body, nullptr) << row.name;
    EXPECT_FALSE(row.summary.empty() || row.summary.ends_with('.')) << row.name;
    EXPECT_TRUE(row.text.ends_with('.')) << row.name;
    EXPECT_LE(row.summary.size(), 60U) << row.name;
  }
}

TEST(Commands, explain_every_option_and_argument) {
  for (const CommandRow& row : commands()) {
    for (const OptionRow& option : row.options) {
      EXPECT_TRUE(is_word(option.name)) << option.name;
      EXPECT_FALSE(option.help.empty() || option.help.ends_with('.')) << option.name;
      EXPECT_EQ(option.kind == ValueKind::none, option.value.empty()) << option.name;
      EXPECT_EQ(option.kind == ValueKind::choice, !option.choices.empty()) << option.name;
      EXPECT_NE(option.name, kHelpOption.name) << "every command has it";
    }
    for (const PositionalRow& positional : row.positionals) {
      EXPECT_FALSE(positional.help.empty() || positional.help.ends_with('.')) << positional.name;
      EXPECT_TRUE(!positional.repeats || &positional == &row.positionals.back()) << row.name;
    }
  }
}

TEST(Commands, say_what_is_missing_or_misplaced) {
  const auto error_of = [](std::initializer_list<std::string_view> words) {
    const auto request = parse(commands(), std::vector<std::string_view>(words));
    return request ? "" : request.error().text;
  };
  EXPECT_TRUE(error_of({"explain"}).starts_with("tend explain: needs an AGENT ("));
  EXPECT_TRUE(error_of({"watch"}).starts_with("tend watch: needs a WHAT ("));
  EXPECT_EQ(error_of({"run", "./x", "-z"}),
            "tend run: unknown option '-z' (see 'tend run --help'); options of the program go "
            "after --, as in: tend run -- CMD -x");
  EXPECT_EQ(error_of({"status", "-z"}),
            "tend status: unknown option '-z' (see 'tend status --help')");
}

TEST(Commands, give_examples_that_parse) {
  for (const CommandRow& row : commands()) {
    EXPECT_FALSE(row.examples.empty()) << row.name;
    for (const std::string_view example : row.examples) {
      ASSERT_NE(example.find("tend "), std::string_view::npos) << example;
      const auto request = parse(commands(), words_of_example(example));
      ASSERT_TRUE(request.has_value()) << request.error().text;
      ASSERT_TRUE(std::holds_alternative<RunRequest>(*request)) << example;
      EXPECT_EQ(std::get<RunRequest>(*request).command, &row) << example;
    }
  }
}

TEST(Table, knows_groups_from_commands) {
  EXPECT_TRUE(is_group(commands(), "config"));
  EXPECT_FALSE(is_group(commands(), "replay"));
  EXPECT_EQ(second_words(commands(), "config"), std::vector<std::string_view>{"check"});
}

TEST(Table, offers_all_limits_and_policies) {
  EXPECT_EQ(joined(words_of(ValueKind::policy, {})), "agent worker critical overnight plain");
  const auto limits = words_of(ValueKind::limit, {});
  EXPECT_NE(std::ranges::find(limits, "model"), limits.end());
  EXPECT_NE(std::ranges::find(limits, "beats"), limits.end());
}

}  // namespace
}  // namespace tend
