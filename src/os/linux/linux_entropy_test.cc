// Chance can only be tested for being there.
#include "os/linux/linux_entropy.h"

#include <gtest/gtest.h>

#include <set>

namespace tend {
namespace {

TEST(LinuxEntropy, gives_numbers_that_do_not_repeat) {
  LinuxEntropy entropy;
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(entropy.number());
  EXPECT_EQ(seen.size(), 1000U);
}

TEST(LinuxEntropy, moves_every_bit) {
  LinuxEntropy entropy;
  std::uint64_t ones = 0;
  std::uint64_t zeros = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t number = entropy.number();
    ones |= number;
    zeros |= ~number;
  }
  EXPECT_EQ(ones, ~std::uint64_t{0});
  EXPECT_EQ(zeros, ~std::uint64_t{0});
}

}  // namespace
}  // namespace tend
