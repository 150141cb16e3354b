// Options, their values and the words between them.
#include "act/agent_words.h"

#include <gtest/gtest.h>

#include <array>

#include "act/agent_testing.h"

namespace tend {
namespace {

using Words = std::vector<std::string>;

constexpr auto kOptions = std::to_array<Option>({
    {"-f --flag"},
    {"-g --other-flag"},
    {"-o --one", Takes::one},
    {"-q --perhaps", Takes::perhaps},
    {"-m --many --several", Takes::many},
    {"--once", Takes::one, Role::first_only},
});

Apart read(Dialect dialect, const std::string& line) {
  return take_apart({dialect, kOptions}, words(line));
}

TEST(AgentWords, knows_which_words_are_values) {
  struct Case {
    Dialect dialect;
    std::string line;
    Words loose;
  };
  using enum Dialect;
  const std::vector<Case> cases{
      {commander, "a b", {"a", "b"}},
      {commander, "--flag a", {"a"}},
      {commander, "--one a b", {"b"}},
      {commander, "--one=a b", {"b"}},
      {commander, "--one --flag b", {"b"}},
      {clap, "--one --flag b", {"b"}},
      {commander, "--one", {}},
      {commander, "--perhaps a b", {"b"}},
      {commander, "--perhaps --flag b", {"b"}},
      {commander, "--many a b --flag c", {"c"}},
      {commander, "--several a b", {}},
      {commander, "--many=a b", {"b"}},
      {commander, "-ob c", {"c"}},
      {commander, "-fo b c", {"c"}},
      {commander, "-fg a", {"a"}},
      {clap, "-o=b c", {"c"}},
      {commander, "- a", {"-", "a"}},
      {commander, "--one - a", {"a"}},
      {commander, "a -- --flag --one b", {"a", "--flag", "--one", "b"}},
      {yargs, "--flag true a", {"a"}},
      {commander, "--flag true a", {"true", "a"}},
      {yargs, "--otherFlag false a", {"a"}},
      {yargs, "--no-flag a", {"a"}},
      {commander, "--unknown=a b", {"b"}},
  };
  for (const Case& c : cases) {
    const Apart apart = read(c.dialect, c.line);
    EXPECT_EQ(loose_words(apart), c.loose) << c.line;
    EXPECT_EQ(apart.doubtful, "") << c.line;
    EXPECT_EQ(apart.count, words(c.line).size()) << c.line;
  }
}

TEST(AgentWords, doubts_what_could_be_a_value_of_an_unknown_option) {
  using enum Dialect;
  EXPECT_EQ(read(commander, "--new a").doubtful, "--new");
  EXPECT_EQ(read(commander, "-z a").doubtful, "-z");
  EXPECT_EQ(read(commander, "-fz a").doubtful, "-fz");
  EXPECT_EQ(read(commander, "--no-flag a").doubtful, "--no-flag");
  EXPECT_EQ(read(commander, "a --new").doubtful, "");
  EXPECT_EQ(read(commander, "--new --flag a").doubtful, "");
  EXPECT_EQ(read(commander, "--new -- a").doubtful, "");
  EXPECT_EQ(read(yargs, "-oNAME").doubtful, "-oNAME");
  EXPECT_EQ(read(yargs, "-o=NAME").doubtful, "");
}

TEST(AgentWords, finds_the_last_of_a_name) {
  const Apart apart = read(Dialect::commander, "--one a -ob --flag");
  ASSERT_NE(find(apart, "--one"), nullptr);
  EXPECT_EQ(find(apart, "--one")->value, "b");
  EXPECT_EQ(find(apart, "-o"), find(apart, "--one"));
  EXPECT_EQ(find(apart, "--perhaps"), nullptr);
  EXPECT_EQ(find(apart, "--on"), nullptr);
  EXPECT_EQ(find(apart, Role::first_only), nullptr);
}

TEST(AgentWords, keeps_options_word_for_word_and_leaves_out_what_was_for_the_first_life) {
  const Apart apart =
      read(Dialect::commander, "a --one=x --once y -fgo z b --new=1 --many p q -- --flag");
  EXPECT_EQ(kept_options(apart), words("--one=x -f -g -o z --new=1 --many p q"));
}

TEST(AgentWords, stops_at_the_first_word_when_asked) {
  const Apart apart =
      take_apart({Dialect::clap, kOptions}, words("--one a run --flag b"), UpTo::first_word);
  EXPECT_EQ(apart.count, 3U);
  EXPECT_EQ(loose_words(apart), Words{"run"});
  EXPECT_EQ(find(apart, "--flag"), nullptr);
}

}  // namespace
}  // namespace tend
