// What people type, rightly and wrongly, against a small table of its own.
#include "app/parse.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace tend {
namespace {

constexpr std::string_view kSpeeds[] = {"slow", "fast"};
constexpr OptionRow kPlayOptions[] = {
    {.name = "json", .letter = 'j', .help = "print JSON"},
    {.name = "limit",
     .letter = 'l',
     .kind = ValueKind::limit,
     .value = "NAME=DUR",
     .help = "set a limit",
     .repeats = true},
    {.name = "policy", .kind = ValueKind::policy, .value = "NAME|FILE", .help = "judge by it"},
    {.name = "speed",
     .kind = ValueKind::choice,
     .value = "SPEED",
     .help = "how fast",
     .choices = kSpeeds},
    {.name = "owner",
     .letter = 'o',
     .kind = ValueKind::text,
     .value = "NAME",
     .help = "whose it is",
     .value_may_be_empty = true},
};
constexpr PositionalRow kTraces[] = {
    {.name = "TRACE", .kind = ValueKind::file, .help = "a file", .required = true, .repeats = true},
};
constexpr PositionalRow kFile[] = {{.name = "FILE", .kind = ValueKind::file, .help = "a file"}};
constexpr PositionalRow kSpeed[] = {
    {.name = "SPEED",
     .kind = ValueKind::choice,
     .help = "slow or fast",
     .required = true,
     .choices = kSpeeds},
};
constexpr CommandRow kTable[] = {
    {.name = "play", .positionals = kTraces, .options = kPlayOptions},
    {.name = "config check", .positionals = kFile},
    {.name = "config show"},
    {.name = "gear", .positionals = kSpeed},
};

Result<Request> parsed(std::initializer_list<std::string_view> words) {
  const std::vector<std::string_view> list(words);
  return parse(kTable, list);
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

HelpRequest help_of(std::initializer_list<std::string_view> words) {
  return std::get<HelpRequest>(parsed(words).value());
}

using Texts = std::vector<std::string>;

TEST(Parse, finds_commands_of_one_word_and_of_two) {
  EXPECT_EQ(std::get<RunRequest>(parsed({"play", "a"}).value()).command, &kTable[0]);
  EXPECT_EQ(std::get<RunRequest>(parsed({"config", "show"}).value()).command, &kTable[2]);
}

TEST(Parse, keeps_positionals_as_they_were_typed) {
  const Arguments arguments = arguments_of({"play", "-", "[a,b]", "", "x=y", "++", "'q'"});
  EXPECT_EQ(arguments.positionals, (Texts{"-", "[a,b]", "", "x=y", "++", "'q'"}));
}

TEST(Parse, takes_values_with_and_without_an_equals_sign) {
  const Arguments arguments =
      arguments_of({"play", "--policy=worker", "a", "--limit", "tool=5m", "--limit=idle=9", "b"});
  EXPECT_EQ(arguments.value("policy"), "worker");
  EXPECT_EQ(arguments.values("limit"), (Texts{"tool=5m", "idle=9"}));
  EXPECT_EQ(arguments.positionals, (Texts{"a", "b"}));
}

TEST(Parse, takes_the_last_value_of_an_option_given_twice) {
  EXPECT_EQ(arguments_of({"play", "--policy", "a", "--policy", "b", "t"}).value("policy"), "b");
}

TEST(Parse, takes_an_empty_value_where_it_means_something) {
  EXPECT_EQ(arguments_of({"play", "--owner", "", "a"}).value("owner"), "");
  EXPECT_EQ(arguments_of({"play", "--owner=", "--json", "a"}).value("owner"), "");
  EXPECT_TRUE(arguments_of({"play", "--owner=", "--json", "a"}).has("json"));
  EXPECT_EQ(arguments_of({"play", "-o", "me", "a"}).value("owner"), "me");
  EXPECT_EQ(arguments_of({"play", "--owner", "a", "--owner=b", "t"}).values("owner"),
            (Texts{"a", "b"}));
  EXPECT_EQ(arguments_of({"play", "--", "--owner"}).positionals, Texts{"--owner"});
  EXPECT_EQ(error_of({"play", "a", "--owner"}), "tend play: --owner needs a value NAME");
  EXPECT_EQ(error_of({"play", "a", "--policy", ""}), "tend play: --policy needs a value NAME|FILE");
}

TEST(Parse, names_the_program_as_it_was_called) {
  constexpr CommandRow kOther[] = {{.name = "play", .positionals = kTraces, .program = "bd"},
                                   {.name = "config show", .program = "bd"}};
  const auto error = [&](std::initializer_list<std::string_view> words) {
    return parse(kOther, std::vector<std::string_view>(words)).error().text;
  };
  EXPECT_EQ(error({"play", "--x"}), "bd play: unknown option '--x' (see 'bd play --help')");
  EXPECT_EQ(error({"pley"}), "bd: no command 'pley'; did you mean 'play'? (see 'bd --help')");
  EXPECT_EQ(error({"config", "x"}), "bd config: no command 'x' (see 'bd config --help')");
  EXPECT_EQ(error({"--x"}), "bd: unknown option '--x' (see 'bd --help')");
}

TEST(Parse, knows_flags_from_their_absence) {
  EXPECT_TRUE(arguments_of({"play", "a", "--json"}).has("json"));
  EXPECT_FALSE(arguments_of({"play", "a"}).has("json"));
  EXPECT_FALSE(arguments_of({"play", "a"}).value("policy").has_value());
}

TEST(Parse, takes_letters_for_options) {
  const Arguments arguments = arguments_of({"play", "-j", "-l", "tool=5m", "a"});
  EXPECT_TRUE(arguments.has("json"));
  EXPECT_EQ(arguments.value("limit"), "tool=5m");
}

TEST(Parse, takes_everything_behind_two_dashes_as_positional) {
  const Arguments arguments =
      arguments_of({"play", "--policy", "worker", "--", "-x", "--json", "--help", "--"});
  EXPECT_EQ(arguments.positionals, (Texts{"-x", "--json", "--help", "--"}));
  EXPECT_FALSE(arguments.has("json"));
}

TEST(Parse, lets_help_win_wherever_it_stands) {
  EXPECT_EQ(help_of({"--help"}).topic.command, nullptr);
  EXPECT_EQ(help_of({"play", "--wrong", "--help"}).topic.command, &kTable[0]);
  EXPECT_EQ(help_of({"play", "--policy", "-h"}).topic.command, &kTable[0]);
  EXPECT_EQ(help_of({"--help", "config", "check"}).topic.command, &kTable[1]);
  EXPECT_EQ(help_of({"config", "--help"}).topic.group, "config");
  EXPECT_TRUE(help_of({"play", "--help"}).asked);
}

TEST(Parse, offers_help_where_a_command_is_missing) {
  EXPECT_FALSE(help_of({}).asked);
  EXPECT_FALSE(help_of({"config"}).asked);
  EXPECT_EQ(help_of({"config"}).topic.group, "config");
}

TEST(Parse, knows_the_version) {
  for (const std::string_view word : {"--version", "-V", "version"}) {
    EXPECT_TRUE(std::holds_alternative<VersionRequest>(parsed({word}).value())) << word;
  }
}

TEST(Parse, says_which_command_was_meant) {
  EXPECT_EQ(error_of({"paly"}),
            "tend: no command 'paly'; did you mean 'play'? (see 'tend --help')");
  EXPECT_EQ(error_of({"config", "chek", "--help"}),
            "tend config: no command 'chek'; did you mean 'check'? (see 'tend config --help')");
  EXPECT_EQ(error_of({"config", "play"}),
            "tend config: no command 'play'; there is 'tend play' (see 'tend config --help')");
  EXPECT_EQ(error_of({"xyzzy"}), "tend: no command 'xyzzy' (see 'tend --help')");
  EXPECT_EQ(error_of({""}), "tend: no command '' (see 'tend --help')");
}

TEST(Parse, says_which_option_was_meant) {
  EXPECT_EQ(error_of({"play", "a", "--jsn"}),
            "tend play: unknown option '--jsn'; did you mean '--json'? (see 'tend play --help')");
  EXPECT_EQ(
      error_of({"play", "a", "--polic=worker"}),
      "tend play: unknown option '--polic'; did you mean '--policy'? (see 'tend play --help')");
  EXPECT_EQ(error_of({"play", "-x", "a"}),
            "tend play: unknown option '-x' (see 'tend play --help')");
  EXPECT_EQ(error_of({"--json"}), "tend: unknown option '--json' (see 'tend --help')");
  EXPECT_EQ(error_of({"config", "--version"}),
            "tend config: unknown option '--version' (see 'tend config --help')");
}

TEST(Parse, says_which_value_is_missing) {
  const std::string expected = "tend play: --limit needs a value NAME=DUR";
  EXPECT_EQ(error_of({"play", "a", "--limit"}), expected);
  EXPECT_EQ(error_of({"play", "--limit", "--json", "a"}), expected);
  EXPECT_EQ(error_of({"play", "--limit=", "a"}), expected);
  EXPECT_EQ(error_of({"play", "--limit", "--", "a"}), expected);
  EXPECT_EQ(error_of({"play", "a", "-l"}), expected);
}

TEST(Parse, refuses_a_value_for_a_flag) {
  EXPECT_EQ(error_of({"play", "--json=no", "a"}), "tend play: --json takes no value");
}

TEST(Parse, counts_positionals) {
  EXPECT_EQ(error_of({"play"}), "tend play: needs at least one TRACE (a file)");
  EXPECT_EQ(error_of({"gear"}), "tend gear: needs a SPEED (slow or fast)");
  EXPECT_EQ(error_of({"config", "check", "a", "b"}),
            "tend config check: unexpected argument 'b' (see 'tend config check --help')");
  EXPECT_EQ(error_of({"config", "show", "a"}),
            "tend config show: unexpected argument 'a' (see 'tend config show --help')");
}

TEST(Parse, says_what_there_is_to_choose_from) {
  EXPECT_EQ(error_of({"gear", "warp"}), "tend gear: SPEED is slow or fast, not 'warp'");
  EXPECT_EQ(error_of({"play", "--speed", "warp", "a"}),
            "tend play: --speed is slow or fast, not 'warp'");
  EXPECT_EQ(arguments_of({"play", "--speed", "slow", "a"}).value("speed"), "slow");
}

TEST(Parse, keeps_every_error_on_one_line) {
  EXPECT_EQ(error_of({"a\nb"}), "tend: no command 'a\\x0ab' (see 'tend --help')");
  EXPECT_LT(error_of({std::string(10'000, 'x')}).size(), 120U);
}

}  // namespace
}  // namespace tend
