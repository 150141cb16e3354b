// What people mistype, and what must not be guessed at.
#include "base/suggest.h"

#include <array>

#include <gtest/gtest.h>

namespace tend {
namespace {

constexpr std::array<std::string_view, 4> kWords{"start", "model", "tool", "retry"};

TEST(DidYouMean, finds_a_wrong_missing_extra_or_swapped_letter) {
  EXPECT_EQ(did_you_mean("modell", kWords), "; did you mean 'model'?");
  EXPECT_EQ(did_you_mean("mdel", kWords), "; did you mean 'model'?");
  EXPECT_EQ(did_you_mean("tuol", kWords), "; did you mean 'tool'?");
  EXPECT_EQ(did_you_mean("rerty", kWords), "; did you mean 'retry'?");
}

TEST(DidYouMean, does_not_guess_far_away) {
  EXPECT_EQ(did_you_mean("budget", kWords), "");
  EXPECT_EQ(did_you_mean("", kWords), "");
  EXPECT_EQ(did_you_mean(std::string(5000, 'm'), kWords), "");
}

TEST(DidYouMean, takes_the_first_of_equally_close_words) {
  constexpr std::array<std::string_view, 2> kPair{"cat", "bat"};
  EXPECT_EQ(did_you_mean("rat", kPair), "; did you mean 'cat'?");
}

TEST(DidYouMean, does_not_offer_a_word_that_shares_nothing) {
  constexpr std::array<std::string_view, 1> kShort{"x"};
  EXPECT_EQ(did_you_mean("y", kShort), "");
}

}  // namespace
}  // namespace tend
