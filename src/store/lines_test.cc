// The end of a file, and what was torn there.
#include "store/lines.h"

#include <gtest/gtest.h>

#include "os/sim/sim_universe.h"

namespace tend {
namespace {

constexpr const char* kPath = "/home/user/a/file";

class Lines : public testing::Test {
 protected:
  Lines() : folder(universe.machine().folders.make("/home/user/a").value()) {}

  std::string last(std::size_t most) { return last_lines(*folder, "file", most).value(); }

  SimUniverse universe;
  std::unique_ptr<Folder> folder;
};

TEST_F(Lines, are_appended_behind_the_end_of_a_torn_one) {
  universe.disk.write(kPath, "to");
  ASSERT_TRUE(append_line(*folder, "file", "one", Folder::Sync::no).has_value());
  ASSERT_TRUE(append_line(*folder, "file", "two", Folder::Sync::no).has_value());
  EXPECT_EQ(universe.disk.read(kPath), "to\none\ntwo\n");
}

TEST_F(Lines, survive_a_power_cut_if_asked_to) {
  ASSERT_TRUE(append_line(*folder, "file", "one", Folder::Sync::yes).has_value());
  ASSERT_TRUE(append_line(*folder, "file", "two", Folder::Sync::no).has_value());
  universe.disk.cut_power();
  EXPECT_EQ(universe.disk.read(kPath), "one\n");
}

TEST_F(Lines, are_taken_off_one_by_one) {
  std::string_view text = "one\n\ntwo";
  EXPECT_EQ(take_line(text), "one");
  EXPECT_EQ(take_line(text), "");
  EXPECT_EQ(take_line(text), "two");
  EXPECT_TRUE(text.empty());
}

TEST_F(Lines, of_the_end_begin_with_a_whole_one) {
  EXPECT_EQ(last(100), "");
  universe.disk.write(kPath, "one\ntwo\nthree\n");
  EXPECT_EQ(last(14), "one\ntwo\nthree\n");
  EXPECT_EQ(last(13), "two\nthree\n");
  EXPECT_EQ(last(10), "two\nthree\n");
  EXPECT_EQ(last(9), "three\n");
  EXPECT_EQ(last(6), "three\n");
  EXPECT_EQ(last(5), "");
  EXPECT_EQ(last(0), "");
}

}  // namespace
}  // namespace tend
