// Budgets and repeated ends.
#include "judge/spending.h"

#include <gtest/gtest.h>

namespace tend {
namespace {

End end_of(std::string_view cause, Phase phase = Phase::model) {
  End end;
  end.cause = Name(cause);
  end.phase = phase;
  return end;
}

TEST(Spending, recognises_the_same_cause_at_the_same_point) {
  Spending spending;
  EXPECT_EQ(spending.count(end_of("exit 1")), 1U);
  EXPECT_EQ(spending.count(end_of("exit 1")), 2U);
  EXPECT_EQ(spending.count(end_of("exit 1", Phase::tool)), 1U);
  EXPECT_EQ(spending.count(end_of("exit 2")), 1U);
  EXPECT_EQ(spending.count(end_of("exit 1")), 3U);
}

TEST(Spending, is_spent_after_three_and_refilled_but_never_past_nine) {
  const Budget budget{.between_refills = 3, .per_agent = 9, .refill_after = {}};
  Spending spending;
  for (int refill = 0; refill < 3; ++refill) {
    for (int i = 0; i < 3; ++i) {
      EXPECT_FALSE(spending.spent(budget));
      spending.spend();
    }
    EXPECT_TRUE(spending.spent(budget));
    spending.refill();
  }
  EXPECT_TRUE(spending.spent(budget));
}

TEST(Spending, forgets_ends_at_a_refill) {
  Spending spending;
  spending.count(end_of("exit 1"));
  spending.refill();
  EXPECT_EQ(spending.count(end_of("exit 1")), 1U);
}

TEST(Spending, remembers_a_bounded_number_of_ends) {
  Spending spending;
  for (int i = 0; i < 100; ++i) (void)spending.count(end_of("exit " + std::to_string(i)));
  EXPECT_EQ(spending.count(end_of("exit 99")), 2U);
  EXPECT_EQ(spending.count(end_of("exit 0")), 1U);
}

}  // namespace
}  // namespace tend
