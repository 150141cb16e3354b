// in_quotes() must survive anything a file or a command line can hold.
#include "base/quote.h"

#include <gtest/gtest.h>

namespace tend {
namespace {

TEST(InQuotes, leaves_plain_text_and_utf8_alone) {
  EXPECT_EQ(in_quotes("model"), "'model'");
  EXPECT_EQ(in_quotes("größe"), "'größe'");
  EXPECT_EQ(in_quotes(""), "''");
}

TEST(InQuotes, escapes_what_a_terminal_would_obey) {
  EXPECT_EQ(in_quotes("a\nb"), "'a\\x0ab'");
  EXPECT_EQ(in_quotes("\x1b[2J"), "'\\x1b[2J'");
  EXPECT_EQ(in_quotes("\xc2\x9b"), "'\\xc2\x9b'");
  EXPECT_EQ(in_quotes("\x7f"), "'\\x7f'");
}

TEST(InQuotes, cuts_long_text_between_characters) {
  EXPECT_EQ(in_quotes(std::string(61, 'x')), "'" + std::string(60, 'x') + "...'");
  EXPECT_EQ(in_quotes(std::string(59, 'x') + "ö"), "'" + std::string(59, 'x') + "...'");
  EXPECT_EQ(in_quotes(std::string(60, 'x')), "'" + std::string(60, 'x') + "'");
}

TEST(OnOneLine, keeps_the_whole_text) {
  EXPECT_EQ(on_one_line("a\tb"), "a\\x09b");
  EXPECT_EQ(on_one_line(std::string(100, 'x')), std::string(100, 'x'));
}

}  // namespace
}  // namespace tend
