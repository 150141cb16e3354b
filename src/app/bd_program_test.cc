// The program under its other name: what it is called by, its table, its help.
#include "app/bd_program.h"

#include <gtest/gtest.h>

#include <set>

#include "app/bd_testing.h"
#include "app/parse.h"

namespace tend {
namespace {

TEST(BdProgram, is_known_by_the_last_part_of_what_it_was_called_by) {
  EXPECT_TRUE(is_called_bd("bd"));
  EXPECT_TRUE(is_called_bd("/usr/local/share/tend/compat/bd"));
  EXPECT_TRUE(is_called_bd("./bd"));
  EXPECT_FALSE(is_called_bd("tend"));
  EXPECT_FALSE(is_called_bd("/opt/bd/tend"));
  EXPECT_FALSE(is_called_bd("abd"));
  EXPECT_FALSE(is_called_bd(""));
}

TEST(BdProgram, has_a_table_that_keeps_the_rules_of_tables) {
  std::set<std::string_view> names;
  for (const CommandRow& row : bd_commands()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(row.program, "bd") << row.name;
    EXPECT_NE(row.body, nullptr) << row.name;
    EXPECT_FALSE(row.summary.empty() || row.summary.ends_with('.')) << row.name;
    EXPECT_TRUE(row.text.ends_with('.')) << row.name;
    EXPECT_LE(row.summary.size(), 60U) << row.name;
    std::set<char> letters;
    for (const OptionRow& option : row.options) {
      EXPECT_FALSE(option.help.empty() || option.help.ends_with('.')) << option.name;
      EXPECT_EQ(option.kind == ValueKind::none, option.value.empty()) << option.name;
      EXPECT_TRUE(option.letter == 0 || letters.insert(option.letter).second) << option.name;
    }
  }
}

TEST(BdProgram, explains_itself_within_80_columns_and_under_its_name) {
  BdHome home;
  for (const auto& words : std::vector<std::vector<std::string_view>>{
           {"--help"}, {"list", "--help"}, {"update", "--help"}, {"reclaim", "-h"}}) {
    const BdAnswer answer = home.bd(words);
    EXPECT_EQ(answer.exit, kExitYes);
    EXPECT_TRUE(answer.out.starts_with("Usage: bd ")) << answer.out;
    EXPECT_FALSE(answer.out.contains("'tend ")) << answer.out;
    for (std::size_t at = 0; at < answer.out.size();) {
      const std::size_t end = answer.out.find('\n', at);
      EXPECT_LE(end - at, 80U) << answer.out.substr(at, end - at);
      at = end + 1;
    }
  }
}

TEST(BdProgram, says_which_version_it_is) {
  BdHome home;
  for (const std::string_view word : {"--version", "-V", "version"}) {
    const BdAnswer answer = home.bd({word});
    EXPECT_EQ(answer.exit, kExitYes);
    EXPECT_TRUE(answer.out.starts_with("bd ")) << answer.out;
  }
}

TEST(BdProgram, takes_a_mistake_as_a_no) {
  BdHome home;
  const BdAnswer answer = home.bd({"lst"});
  EXPECT_EQ(answer.exit, kExitNo);
  EXPECT_EQ(answer.out, "");
  EXPECT_TRUE(answer.err.starts_with("bd: no command 'lst'")) << answer.err;
  EXPECT_EQ(home.bd({"show"}).exit, kExitNo);
  EXPECT_EQ(home.bd({"list", "--nonsense"}).exit, kExitNo);
  EXPECT_EQ(home.bd({}).exit, kExitNo);
}

TEST(BdProgram, takes_options_before_the_command_as_well) {
  BdHome home;
  ASSERT_EQ(home.bd({"create", "x", "--id", "a"}).exit, kExitYes);
  EXPECT_EQ(home.bd({"--json", "list"}).ids(), std::vector<std::string>{"a"});
  EXPECT_EQ(
      home.bd({"--actor", "PinkHill", "--json", "update", "a", "--claim"}).issue()["assignee"],
      "PinkHill");
  EXPECT_EQ(home.bd({"--actor=PinkHill", "-q", "heartbeat", "a"}).out, "");
  EXPECT_EQ(home.bd({"--json"}).exit, kExitNo);
}

TEST(BdProgram, says_to_people_that_it_has_its_own_tasks) {
  BdHome home;
  home.variables["BEADS_DIR"] = "/repo/.beads";
  EXPECT_EQ(home.bd({"list"}).err, "");
  home.terminal = true;
  EXPECT_EQ(home.bd({"list"}).err,
            "bd: BEADS_DIR is not heeded: this bd has the tasks of `tend`\n");
  EXPECT_EQ(home.bd({"list"}).out, "No issues found.\n");
}

}  // namespace
}  // namespace tend
