// Values that may be left out, values that look like something else, and groups that are commands.
#include <gtest/gtest.h>

#include <initializer_list>

#include "app/parse.h"

namespace tend {
namespace {

constexpr OptionRow kOptions[] = {
    {.name = "json", .help = "print JSON"},
    {.name = "body", .kind = ValueKind::text, .value = "TEXT", .help = "what it says"},
    {.name = "late",
     .letter = 'd',
     .kind = ValueKind::text,
     .value = "DUR",
     .help = "for how long",
     .value_is_optional = true},
};
constexpr PositionalRow kFiles[] = {{.name = "FILE", .help = "a file", .repeats = true}};
constexpr CommandRow kTable[] = {
    {.name = "play", .positionals = kFiles, .options = kOptions},
    {.name = "queue"},
    {.name = "queue show", .positionals = kFiles},
};

Result<Request> parsed(std::initializer_list<std::string_view> words) {
  return parse(kTable, std::vector<std::string_view>(words));
}

Arguments arguments_of(std::initializer_list<std::string_view> words) {
  auto request = parsed(words);
  if (!request) {
    ADD_FAILURE() << request.error().text;
    return {};
  }
  return std::get<RunRequest>(*request).arguments;
}

std::string error_of(std::initializer_list<std::string_view> words) {
  const auto request = parsed(words);
  return request ? "no error" : request.error().text;
}

using Texts = std::vector<std::string>;

TEST(ParseValues, takes_an_optional_value_behind_an_equals_sign_only) {
  const Arguments alone = arguments_of({"play", "--late", "5m", "--json"});
  EXPECT_TRUE(alone.has("late") && alone.has("json"));
  EXPECT_FALSE(alone.value("late").has_value());
  EXPECT_EQ(alone.positionals, Texts{"5m"});
  EXPECT_EQ(arguments_of({"play", "a", "--late=5m"}).value("late"), "5m");
  EXPECT_EQ(arguments_of({"play", "a", "-d=5m"}).value("late"), "5m");
  EXPECT_TRUE(arguments_of({"play", "a", "-d"}).has("late"));
  EXPECT_FALSE(arguments_of({"play", "a"}).has("late"));
  EXPECT_EQ(arguments_of({"play", "--", "--late"}).positionals, Texts{"--late"});
  EXPECT_EQ(error_of({"play", "a", "--late="}), "tend play: --late= needs a value DUR");
}

TEST(ParseValues, takes_no_option_that_is_the_value_of_another) {
  const Arguments arguments = arguments_of({"play", "--body=--late", "a"});
  EXPECT_EQ(arguments.value("body"), "--late");
  EXPECT_FALSE(arguments.has("late"));
}

TEST(ParseValues, keeps_values_that_look_like_lists_or_files) {
  EXPECT_EQ(arguments_of({"play", "--body", "[a,b]"}).values("body"), Texts{"[a,b]"});
  EXPECT_EQ(arguments_of({"play", "--body=-"}).values("body"), Texts{"-"});
  EXPECT_EQ(arguments_of({"play", "--body", "-"}).values("body"), Texts{"-"});
  EXPECT_EQ(arguments_of({"play", "--body", "- one\n- two"}).values("body"), Texts{"- one\n- two"});
}

TEST(ParseValues, knows_a_group_that_is_a_command_itself) {
  EXPECT_EQ(std::get<RunRequest>(parsed({"queue"}).value()).command, &kTable[1]);
  EXPECT_EQ(std::get<RunRequest>(parsed({"queue", "show", "a"}).value()).command, &kTable[2]);
  EXPECT_EQ(std::get<HelpRequest>(parsed({"queue", "--help"}).value()).topic.command, &kTable[1]);
  EXPECT_EQ(error_of({"queue", "shwo"}),
            "tend queue: no command 'shwo'; did you mean 'show'? (see 'tend queue --help')");
  EXPECT_EQ(error_of({"queue", "--all"}),
            "tend queue: unknown option '--all' (see 'tend queue --help')");
}

}  // namespace
}  // namespace tend
