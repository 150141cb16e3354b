// Colours where they are wanted, lines that end at the edge, times as people say them.
#include "app/look.h"

#include <gtest/gtest.h>

#include "os/sim/sim_world.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

TEST(TimeLabel, is_as_people_say_times) {
  EXPECT_EQ(time_label(0s), "0 s");
  EXPECT_EQ(time_label(12500ms), "12.5 s");
  EXPECT_EQ(time_label(59999ms), "59.999 s");
  EXPECT_EQ(time_label(12min + 5s), "12m 05s");
  EXPECT_EQ(time_label(1h + 2min + 59s), "1h 02m");
  EXPECT_EQ(time_label(76h), "3d 04h");
}

TEST(Look, has_colours_on_a_terminal_only) {
  SimWorld sim;
  EXPECT_EQ(Look(sim.out, sim.environment).in(Ink::red, "x"), "x");
  sim.out.terminal = true;
  EXPECT_EQ(Look(sim.out, sim.environment).in(Ink::red, "x"), "\x1b[31mx\x1b[0m");
  sim.environment.variables["NO_COLOR"] = "1";
  EXPECT_EQ(Look(sim.out, sim.environment).in(Ink::red, "x"), "x");
  sim.environment.variables["NO_COLOR"] = "";
  sim.environment.variables["TERM"] = "dumb";
  EXPECT_EQ(Look(sim.out, sim.environment).in(Ink::red, "x"), "x");
}

TEST(Look, has_colours_in_a_pipe_where_they_are_forced) {
  SimWorld sim;
  sim.environment.variables["CLICOLOR_FORCE"] = "1";
  EXPECT_EQ(Look(sim.out, sim.environment).in(Ink::red, "x"), "\x1b[31mx\x1b[0m");
  sim.environment.variables["NO_COLOR"] = "1";
  EXPECT_EQ(Look(sim.out, sim.environment).in(Ink::red, "x"), "x");
}

TEST(Look, has_an_arrow_that_the_locale_can_show) {
  SimWorld sim;
  EXPECT_EQ(Look(sim.out, sim.environment).arrow(), "->");
  sim.environment.variables["LANG"] = "C.UTF-8";
  EXPECT_EQ(Look(sim.out, sim.environment).arrow(), "→");
  sim.environment.variables["LC_ALL"] = "C";
  EXPECT_EQ(Look(sim.out, sim.environment).arrow(), "->");
}

TEST(Look, breaks_lines_at_the_edge_and_nowhere_else) {
  SimWorld sim;
  sim.out.width = 40;
  std::string text = "0123456789";
  Look(sim.out, sim.environment).flow(text, 10, 4, "ten ten ten ten ten ten ten ttt tt a-word");
  EXPECT_EQ(text, "0123456789ten ten ten ten ten ten ten\n    ttt tt a-word\n");
}

TEST(Look, counts_characters_and_not_bytes) {
  EXPECT_EQ(width_of("ä→x"), 3U);
  EXPECT_EQ(right_aligned("ä", 3), "  ä");
  EXPECT_EQ(left_aligned("ä", 3), "ä  ");
  EXPECT_EQ(left_aligned("long", 3), "long");
}

TEST(Look, cuts_by_columns_and_says_so) {
  SimWorld sim;
  EXPECT_EQ(Look(sim.out, sim.environment).cut("abcdef", 5), "ab...");
  sim.environment.variables["LANG"] = "C.UTF-8";
  const Look look(sim.out, sim.environment);
  EXPECT_EQ(look.cut("abcde", 5), "abcde");
  EXPECT_EQ(look.cut("abcdef", 5), "abcd…");
  EXPECT_EQ(look.cut("äöüß", 3), "äö…");
}

}  // namespace
}  // namespace tend
