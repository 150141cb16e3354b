// Lines, whatever pieces they come in and however long they are.
#include "sense/line_splitter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "os/sim/sim_world.h"

namespace tend {
namespace {

using Got = LineSplitter::Got;

std::vector<std::string> lines_of(const std::string& text, std::size_t piece) {
  SimFiles files;
  files.contents["f"] = text;
  files.piece = piece;
  const auto source = files.open("f").value();
  LineSplitter lines(*source);
  std::vector<std::string> all;
  while (true) {
    const Got got = lines.next();
    if (got == Got::end) return all;
    all.push_back(got == Got::line ? std::string(lines.text()) : "too long");
    EXPECT_EQ(lines.number(), all.size());
  }
}

TEST(LineSplitter, splits_alike_whatever_the_pieces) {
  for (const std::size_t piece : {1U, 2U, 3U, 100U}) {
    EXPECT_EQ(lines_of("a\n\nbc\nd", piece), (std::vector<std::string>{"a", "", "bc", "d"}));
  }
}

TEST(LineSplitter, sees_no_line_behind_the_last_newline) {
  EXPECT_EQ(lines_of("", 10), std::vector<std::string>{});
  EXPECT_EQ(lines_of("a\n", 10), std::vector<std::string>{"a"});
}

TEST(LineSplitter, passes_over_a_byte_order_mark_at_the_start_only) {
  EXPECT_EQ(lines_of("\xEF\xBB\xBF"
                     "a\n\xEF\xBB\xBF"
                     "b",
                     2),
            (std::vector<std::string>{"a",
                                      "\xEF\xBB\xBF"
                                      "b"}));
}

TEST(LineSplitter, passes_a_line_of_the_longest_length_and_skips_a_longer_one) {
  const std::string longest(LineSplitter::kLongestLine, 'x');
  const std::string text = "a\n" + longest + "\n" + longest + "y\nb\n" + longest + longest + "\nc";
  for (const std::size_t piece : {std::size_t{100'000}, text.size()}) {
    const auto lines = lines_of(text, piece);
    ASSERT_EQ(lines.size(), 6U);
    EXPECT_TRUE(lines[1] == longest);
    EXPECT_EQ(lines[2], "too long");
    EXPECT_EQ(lines[3], "b");
    EXPECT_EQ(lines[4], "too long");
    EXPECT_EQ(lines[5], "c");
  }
}

TEST(LineSplitter, stays_at_a_failure) {
  SimFiles files;
  files.broken["f"] = "Is a directory";
  const auto source = files.open("f").value();
  LineSplitter lines(*source);
  EXPECT_EQ(lines.next(), Got::failed);
  EXPECT_EQ(lines.next(), Got::failed);
  EXPECT_EQ(lines.error().text, "cannot read f: Is a directory");
}

}  // namespace
}  // namespace tend
