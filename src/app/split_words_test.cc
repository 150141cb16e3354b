// Words as a shell would see them, and nothing else that a shell does.
#include "app/split_words.h"

#include <gtest/gtest.h>

namespace tend {
namespace {

using Words = std::vector<std::string>;

TEST(SplitWords, parts_at_blanks) {
  EXPECT_EQ(split_words("c4-send {channel}\t{endpoint}\n {text} "),
            (Words{"c4-send", "{channel}", "{endpoint}", "{text}"}));
  EXPECT_EQ(split_words(""), Words{});
  EXPECT_EQ(split_words("  "), Words{});
}

TEST(SplitWords, keeps_together_what_is_quoted) {
  EXPECT_EQ(split_words(R"('a b' "c d" e'f 'g"h ")"), (Words{"a b", "c d", "ef gh "}));
  EXPECT_EQ(split_words(R"('' "" x)"), (Words{"", "", "x"}));
  EXPECT_EQ(split_words(R"('\n"' "it's \"so\" \\ \n")"), (Words{R"(\n")", R"(it's "so" \ \n)"}));
  EXPECT_EQ(split_words(R"(a\ b \'c \\)"), (Words{"a b", "'c", "\\"}));
}

TEST(SplitWords, expands_nothing) {
  EXPECT_EQ(split_words("$HOME `ls` $(ls) *.c ~ a;b|c&d >e #f"),
            (Words{"$HOME", "`ls`", "$(ls)", "*.c", "~", "a;b|c&d", ">e", "#f"}));
}

TEST(SplitWords, wants_every_quote_closed) {
  for (const char* const text : {"'a", "\"a", "a\\", "\"a\\\""}) {
    const auto words = split_words(text);
    ASSERT_FALSE(words) << text;
    EXPECT_TRUE(words.error().text.ends_with("ends inside of a quote or behind a backslash"));
  }
}

}  // namespace
}  // namespace tend
