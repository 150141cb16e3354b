// Who waits for whom, and where it goes in a circle.
#include "judge/waits.h"

#include <gtest/gtest.h>

namespace tend {
namespace {

using Places = std::vector<std::size_t>;

constexpr WaitingOne kLead{.verdict = Verdict::waiting, .phase = Phase::children};

WaitingOne child(Verdict verdict, std::size_t parent = 0) {
  return {.parent = parent, .verdict = verdict, .phase = Phase::model};
}

WaitingOne asking(std::size_t parent) {
  WaitingOne one = child(Verdict::waiting, parent);
  one.for_parent = true;
  return one;
}

std::vector<WaitsFor> among(const std::vector<WaitingOne>& all) { return waits_among(all); }

TEST(Waits, of_nobody_are_none) { EXPECT_TRUE(among({}).empty()); }

TEST(Waits, of_a_parent_are_for_every_child_that_has_not_ended) {
  const auto waits = among({kLead, child(Verdict::working), child(Verdict::finished),
                            child(Verdict::waiting), child(Verdict::suspect)});
  EXPECT_EQ(waits[0].on, (Places{1, 3, 4}));
  EXPECT_FALSE(waits[0].in_circle);
  EXPECT_FALSE(waits[0].only_ended);
  for (std::size_t i = 1; i < waits.size(); ++i) EXPECT_TRUE(waits[i].on.empty()) << i;
}

TEST(Waits, are_none_of_a_parent_that_is_at_work_itself) {
  WaitingOne lead = kLead;
  lead.verdict = Verdict::working;
  lead.phase = Phase::model;
  const auto waits = among({lead, child(Verdict::working)});
  EXPECT_TRUE(waits[0].on.empty());
  EXPECT_FALSE(waits[0].only_ended);
}

TEST(Waits, are_told_apart_where_all_children_have_ended) {
  for (const Verdict ended : {Verdict::finished, Verdict::dead, Verdict::idle, Verdict::orphaned}) {
    const auto waits = among({kLead, child(ended), child(Verdict::finished)});
    EXPECT_TRUE(waits[0].on.empty()) << word(ended);
    EXPECT_TRUE(waits[0].only_ended) << word(ended);
  }
  EXPECT_FALSE(among({kLead})[0].only_ended) << "children that are not known may be at work";
}

TEST(Waits, go_in_a_circle_where_parent_and_child_wait_for_each_other) {
  const auto waits = among({kLead, asking(0), child(Verdict::working)});
  EXPECT_EQ(waits[0].on, (Places{1, 2}));
  EXPECT_EQ(waits[1].on, Places{0});
  EXPECT_TRUE(waits[0].in_circle);
  EXPECT_TRUE(waits[1].in_circle);
  EXPECT_FALSE(waits[2].in_circle);
}

TEST(Waits, are_no_circle_while_the_parent_works) {
  WaitingOne lead = kLead;
  lead.verdict = Verdict::working;
  lead.phase = Phase::tool;
  const auto waits = among({lead, asking(0)});
  EXPECT_EQ(waits[1].on, Places{0});
  EXPECT_FALSE(waits[0].in_circle);
  EXPECT_FALSE(waits[1].in_circle);
}

TEST(Waits, reach_through_a_tree_without_making_circles_of_it) {
  WaitingOne middle = child(Verdict::waiting);
  middle.phase = Phase::children;
  const auto waits = among({kLead, middle, child(Verdict::working, 1)});
  EXPECT_EQ(waits[0].on, Places{1});
  EXPECT_EQ(waits[1].on, Places{2});
  for (const WaitsFor& one : waits) EXPECT_FALSE(one.in_circle);
}

TEST(Waits, mark_all_of_a_circle_that_holds_three) {
  WaitingOne middle = asking(0);
  middle.phase = Phase::children;
  const auto waits = among({kLead, middle, asking(1)});
  for (const WaitsFor& one : waits) EXPECT_TRUE(one.in_circle);
  EXPECT_EQ(waits[1].on, (Places{2, 0}));
}

TEST(Waits, are_not_for_a_parent_that_is_gone) {
  WaitingOne lead = kLead;
  lead.verdict = Verdict::dead;
  const auto waits = among({lead, asking(0)});
  EXPECT_TRUE(waits[0].on.empty());
  EXPECT_TRUE(waits[1].on.empty());
}

TEST(Waits, take_no_harm_from_a_parent_that_is_not_in_the_list) {
  const auto waits = among({asking(7), asking(1)});
  EXPECT_TRUE(waits[0].on.empty());
  EXPECT_TRUE(waits[1].on.empty());
}

}  // namespace
}  // namespace tend
