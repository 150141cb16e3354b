// How long to wait before a life is begun again.
#include "act/backoff.h"

#include <gtest/gtest.h>

#include <limits>

namespace tend {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Backoff, begins_at_once_and_doubles_to_a_minute) {
  EXPECT_EQ(backoff(0, 0), seconds{0});
  EXPECT_EQ(backoff(1, 0), seconds{1});
  EXPECT_EQ(backoff(2, 0), seconds{2});
  EXPECT_EQ(backoff(6, 0), seconds{32});
  EXPECT_EQ(backoff(7, 0), seconds{60});
  EXPECT_EQ(backoff(std::numeric_limits<std::uint32_t>::max(), 0), seconds{60});
}

TEST(Backoff, is_at_most_a_quarter_longer_by_chance) {
  EXPECT_EQ(backoff(0, 12345), seconds{0});
  EXPECT_EQ(backoff(1, 250), milliseconds{1250});
  EXPECT_EQ(backoff(1, 251), seconds{1});
  for (std::uint64_t chance = 0; chance < 100'000; chance += 7) {
    EXPECT_GE(backoff(9, chance), seconds{60});
    EXPECT_LE(backoff(9, chance), seconds{75});
  }
  EXPECT_LE(backoff(9, std::numeric_limits<std::uint64_t>::max()), seconds{75});
}

}  // namespace
}  // namespace tend
