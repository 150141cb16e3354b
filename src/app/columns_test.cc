// Widths, and what is cut where.
#include "app/columns.h"

#include <gtest/gtest.h>

#include "os/sim/sim_world.h"

namespace tend {
namespace {

class ColumnsTest : public testing::Test {
 protected:
  ColumnsTest() {
    sim.environment.variables["LANG"] = "C.UTF-8";
    columns.add({{"a"}, {"1"}, {"short"}});
    columns.add({{"└─ long name"}, {"1234567"}, {"much longer than the screen"}});
  }
  [[nodiscard]] Look look() const { return {sim.out, sim.environment}; }

  SimWorld sim;
  Columns columns{{{"NAME"}, {"COUNT", true}, {"WHY"}}};
};

TEST_F(ColumnsTest, are_as_wide_as_their_widest_cell) {
  EXPECT_EQ(columns.text(look(), 0),
            "NAME            COUNT  WHY\n"
            "a                   1  short\n"
            "└─ long name  1234567  much longer than the screen\n");
}

TEST_F(ColumnsTest, are_cut_at_the_edge_of_the_screen_and_only_in_the_last) {
  EXPECT_EQ(columns.text(look(), 43),
            "NAME            COUNT  WHY\n"
            "a                   1  short\n"
            "└─ long name  1234567  much longer than th…\n");
  EXPECT_NE(columns.text(look(), 10).find("└─ long name  1234567  much longer tha…\n"),
            std::string::npos)
      << "something of it is always shown";
}

TEST_F(ColumnsTest, have_colours_that_take_no_room) {
  sim.environment.variables["CLICOLOR_FORCE"] = "1";
  Columns one({{"A"}, {"B"}});
  one.add({{"x", Ink::red}, {"y"}});
  EXPECT_EQ(one.text(look(), 0), "\x1b[2mA\x1b[0m  \x1b[2mB\x1b[0m\n\x1b[31mx\x1b[0m  y\n");
}

}  // namespace
}  // namespace tend
