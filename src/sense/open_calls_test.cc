// Which calls are open, and whether they go in circles.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sense/open_calls.h"

namespace tend {
namespace {

TEST(Print, is_equal_for_equal_bytes_and_differs_for_others) {
  std::set<std::uint64_t> prints;
  std::string text;
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(print_of(text), print_of(std::string(text)));
    EXPECT_TRUE(prints.insert(print_of(text)).second) << text.size();
    text += 'x';
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = 'y';
    EXPECT_TRUE(prints.insert(print_of(other)).second) << i;
  }
  EXPECT_NE(print_of("a", 1), print_of("a", 2));
  EXPECT_NE(print_of(std::string("\0", 1)), print_of(std::string("\0\0", 2)));
}

TEST(OpenCalls, takes_an_id_that_is_open_for_the_same_call) {
  OpenCalls calls;
  calls.open("a").tool = "Bash";
  EXPECT_EQ(calls.open("a").tool, "Bash");
  EXPECT_EQ(calls.all().size(), 1U);
  calls.close(*calls.find("a"));
  EXPECT_EQ(calls.find("a"), nullptr);
  EXPECT_EQ(calls.open("a").tool, "");
}

TEST(OpenCalls, finds_a_call_by_its_work_but_never_by_none) {
  OpenCalls calls;
  calls.open("a");
  EXPECT_EQ(calls.find_work(""), nullptr);
  calls.open("b").work = "w";
  ASSERT_NE(calls.find_work("w"), nullptr);
  EXPECT_EQ(calls.find_work("w")->id, "b");
}

TEST(OpenCalls, closes_all_but_the_background_with_the_turn) {
  OpenCalls calls;
  calls.open("a");
  calls.open("b").background = true;
  calls.open("c");
  calls.end_turn();
  ASSERT_EQ(calls.all().size(), 1U);
  EXPECT_EQ(calls.all()[0].id, "b");
  EXPECT_EQ(calls.background(), 1U);
}

TEST(OpenCalls, forgets_the_oldest_of_too_many) {
  OpenCalls calls;
  for (int i = 0; i < 2000; ++i) calls.open(std::to_string(i));
  EXPECT_EQ(calls.all().size(), 512U);
  EXPECT_EQ(calls.find("1487"), nullptr);
  EXPECT_NE(calls.find("1488"), nullptr);
}

TEST(OpenCalls, counts_what_is_the_same_in_a_row) {
  OpenCalls calls;
  OpenCalls::Call call{.id = "a", .print = 1};
  EXPECT_EQ(calls.count_same(call, 7), 1U);
  EXPECT_EQ(calls.count_same(call, 7), 2U);
  EXPECT_EQ(calls.count_same(call, 7), 3U);
  EXPECT_EQ(calls.count_same(call, 8), 1U);
  call.print = 2;
  EXPECT_EQ(calls.count_same(call, 8), 1U);
  calls.clear();
  EXPECT_EQ(calls.count_same(call, 8), 1U);
}

TEST(OpenCalls, counts_for_64_sub_agents_at_once) {
  OpenCalls calls;
  const auto count = [&](int task) {
    return calls.count_same({.task = std::to_string(task), .print = 1}, 7);
  };
  for (int i = 0; i < 64; ++i) EXPECT_EQ(count(i), 1U);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(count(i), 2U);
  EXPECT_EQ(count(64), 1U);
  EXPECT_EQ(count(63), 3U);
  EXPECT_EQ(count(0), 1U) << "the oldest was forgotten";
}

}  // namespace
}  // namespace tend
