// The man page is complete, and no text in it can turn into a macro.
#include "app/man.h"

#include <gtest/gtest.h>

#include "app/table.h"

namespace tend {
namespace {

TEST(Roff, keeps_macros_and_escapes_out_of_text) {
  EXPECT_EQ(roff(".SH no"), "\\&.SH no");
  EXPECT_EQ(roff("a\n'b"), "a\n\\&\\(aqb");
  EXPECT_EQ(roff("C:\\n"), "C:\\en");
}

TEST(Roff, keeps_what_people_copy_to_a_shell) {
  EXPECT_EQ(roff("--json '~/x' `y` ^z"), "\\-\\-json \\(aq\\(ti/x\\(aq \\(gay\\(ga \\(haz");
}

TEST(ManPage, has_its_sections_in_order) {
  const std::string page = man_page(commands(), "1.2.3");
  EXPECT_NE(page.find("\"tend 1.2.3\""), std::string::npos);
  std::size_t last = 0;
  for (const std::string_view section : {"NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS",
                                         "\"EXIT STATUS\"", "ENVIRONMENT", "EXAMPLES"}) {
    const std::size_t found = page.find("\n.SH " + std::string(section) + "\n");
    ASSERT_NE(found, std::string::npos) << section;
    EXPECT_GT(found, last) << section;
    last = found;
  }
}

TEST(ManPage, tells_of_every_command_option_and_example) {
  const std::string page = man_page(commands(), "1.2.3");
  for (const CommandRow& row : commands()) {
    EXPECT_NE(page.find("\n.SS tend " + roff(row.name) + "\n"), std::string::npos) << row.name;
    for (const OptionRow& option : row.options) {
      EXPECT_NE(page.find("\\fB\\-\\-" + roff(option.name) + "\\fR"), std::string::npos);
    }
    for (const std::string_view example : row.examples) {
      EXPECT_NE(page.find("\n" + roff(example) + "\n"), std::string::npos) << example;
    }
  }
}

TEST(ManPage, shows_a_value_that_may_be_left_out_in_brackets) {
  const std::string page = man_page(commands(), "1.2.3");
  EXPECT_NE(page.find("\\fB\\-\\-heartbeat\\-stale\\fR[=\\fIDUR\\fR]"), std::string::npos);
}

TEST(ManPage, breaks_its_source_at_80_columns_without_making_a_macro) {
  static constexpr CommandRow kRow[] = {
      {.name = "x",
       .summary = "Summary",
       .text = "A text that is long enough for its line to break right here, in front of the "
               ".SH which is no macro"}};
  const std::string page = man_page(kRow, "1.2.3");
  EXPECT_NE(page.find("\n\\&.SH which"), std::string::npos) << page;
}

}  // namespace
}  // namespace tend
