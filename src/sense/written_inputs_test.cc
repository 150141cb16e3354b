// What is new in what a model writes, and how much of it is kept to know that.
#include <gtest/gtest.h>

#include <string>

#include "sense/written_inputs.h"

namespace tend {
namespace {

TEST(WrittenInputs, tell_what_was_written_before_from_what_is_new) {
  WrittenInputs inputs;
  EXPECT_TRUE(inputs.begin("", "Edit"));
  EXPECT_TRUE(inputs.add("", "abc"));
  EXPECT_FALSE(inputs.begin("", "Edit"));
  EXPECT_FALSE(inputs.add("", "ab"));
  EXPECT_TRUE(inputs.add("", "x"));
  EXPECT_TRUE(inputs.add("", "c")) << "what follows it is new too";
  EXPECT_FALSE(inputs.begin("", "Edit"));
  EXPECT_FALSE(inputs.add("", "abxc")) << "and is the last one from now on";
}

TEST(WrittenInputs, take_one_that_broke_off_for_the_last_one) {
  WrittenInputs inputs;
  inputs.begin("", "Edit");
  inputs.add("", "abcdef");
  inputs.begin("", "Edit");
  EXPECT_FALSE(inputs.add("", "abc"));
  inputs.begin("", "Edit");
  EXPECT_FALSE(inputs.add("", "abc"));
  EXPECT_TRUE(inputs.add("", "def"));
}

TEST(WrittenInputs, take_pieces_without_a_beginning_for_the_input_going_on) {
  WrittenInputs inputs;
  EXPECT_TRUE(inputs.add("", "abc"));
  EXPECT_TRUE(inputs.add("", "abc"));
  EXPECT_TRUE(inputs.begin("", "Edit"));
}

TEST(WrittenInputs, know_the_beginning_of_a_long_one_and_take_what_comes_behind_for_new) {
  constexpr std::size_t kKnown = std::size_t{64} * 1024;
  WrittenInputs inputs;
  const std::string thousand(1000, 'x');
  const auto write = [&] {
    inputs.begin("", "Write");
    std::size_t known = 0;
    for (int i = 0; i < 1000; ++i) known += inputs.add("", thousand) ? 0 : thousand.size();
    return known;
  };
  EXPECT_EQ(write(), 0U);
  for (int i = 0; i < 3; ++i) {
    const std::size_t known = write();
    EXPECT_LE(known, kKnown);
    EXPECT_GT(known, kKnown - 2 * thousand.size());
  }
}

TEST(WrittenInputs, forget_the_oldest_of_many_threads) {
  WrittenInputs inputs;
  for (int i = 0; i < 1000; ++i) inputs.begin(std::to_string(i), "Edit");
  EXPECT_FALSE(inputs.begin("999", "Edit"));
  EXPECT_TRUE(inputs.begin("0", "Edit"));
}

}  // namespace
}  // namespace tend
