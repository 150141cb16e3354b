// Every bucket by name, then all combinations of facts at once.
#include "judge/recovery.h"

#include <vector>

#include <gtest/gtest.h>

namespace tend {
namespace {

ChildFacts child() {
  return {.folder = true, .agent_file = true, .heartbeat = true, .started = true, .allowed = 9};
}

Bucket bucket_of(const ChildFacts& facts) { return plan_for(facts).bucket; }

TEST(Recovery, leaves_a_living_child_alone) {
  ChildFacts facts = child();
  facts.keeper = ChildKeeper::alive;
  facts.process = ProcessIs::alive;
  EXPECT_EQ(bucket_of(facts), Bucket::adopt);
}

TEST(Recovery, puts_a_keeper_on_a_living_child_that_lost_its_own) {
  ChildFacts facts = child();
  facts.process = ProcessIs::alive;
  EXPECT_EQ(bucket_of(facts), Bucket::attach);
  facts.keeper = ChildKeeper::hung;
  EXPECT_EQ(bucket_of(facts), Bucket::attach);
}

TEST(Recovery, resumes_a_dead_child_that_has_budget) {
  ChildFacts facts = child();
  facts.process = ProcessIs::gone;
  EXPECT_EQ(bucket_of(facts), Bucket::resume);
  facts.of_this_boot = false;
  EXPECT_EQ(plan_for(facts).why, "it died with the machine");
}

TEST(Recovery, only_holds_a_dead_child_whose_budget_is_spent) {
  ChildFacts facts = child();
  facts.process = ProcessIs::gone;
  facts.spent = 9;
  EXPECT_EQ(bucket_of(facts), Bucket::attach);
  EXPECT_TRUE(plan_for(facts).why.contains("held"));
}

TEST(Recovery, resumes_an_orphan_without_asking_for_its_keeper) {
  ChildFacts facts = child();
  facts.end = ChildEnd::orphaned;
  EXPECT_EQ(bucket_of(facts), Bucket::resume);
  facts.end = ChildEnd::shutdown;
  EXPECT_EQ(bucket_of(facts), Bucket::resume);
  facts.wanted = false;
  EXPECT_EQ(bucket_of(facts), Bucket::tell);
}

TEST(Recovery, waits_for_one_that_is_leaving) {
  ChildFacts facts = child();
  facts.keeper = ChildKeeper::alive;
  facts.process = ProcessIs::alive;
  facts.leaving = true;
  EXPECT_EQ(bucket_of(facts), Bucket::wait);
}

TEST(Recovery, starts_what_was_requested_and_never_started) {
  ChildFacts facts = child();
  facts.started = false;
  facts.heartbeat = false;
  EXPECT_EQ(bucket_of(facts), Bucket::start);
  facts.just_asked = true;
  EXPECT_EQ(bucket_of(facts), Bucket::wait);
}

TEST(Recovery, merges_what_ended_well_and_is_not_merged) {
  ChildFacts facts = child();
  facts.end = ChildEnd::done;
  EXPECT_EQ(bucket_of(facts), Bucket::settled);
  facts.own_worktree = facts.worktree_there = true;
  EXPECT_EQ(bucket_of(facts), Bucket::merge);
  facts.merged = true;
  EXPECT_EQ(bucket_of(facts), Bucket::settled);
}

TEST(Recovery, never_merges_what_was_withdrawn_failed_or_stopped) {
  for (const ChildEnd end : {ChildEnd::withdrawn, ChildEnd::failed, ChildEnd::stopped}) {
    ChildFacts facts = child();
    facts.own_worktree = facts.worktree_there = true;
    facts.end = end;
    EXPECT_EQ(bucket_of(facts), Bucket::tell);
  }
}

TEST(Recovery, drops_what_left_neither_a_file_nor_a_work_tree) {
  ChildFacts facts;
  EXPECT_EQ(bucket_of(facts), Bucket::drop);
  facts.worktree_there = true;
  EXPECT_EQ(bucket_of(facts), Bucket::tell);
}

TEST(Recovery, does_nothing_about_what_it_cannot_know) {
  ChildFacts facts = child();
  facts.process = ProcessIs::unknown;
  EXPECT_EQ(bucket_of(facts), Bucket::unknown);
  facts = child();
  facts.unreadable = "cannot read .heartbeat";
  EXPECT_EQ(bucket_of(facts), Bucket::unknown);
  EXPECT_EQ(plan_for(facts).why, "cannot read .heartbeat");
}

TEST(Recovery, writes_the_end_of_one_that_is_to_be_stopped) {
  ChildFacts facts = child();
  facts.process = ProcessIs::gone;
  facts.wanted = false;
  EXPECT_EQ(bucket_of(facts), Bucket::attach);
}

TEST(Recovery, leaves_what_was_settled_before) {
  ChildFacts facts;
  facts.settled = true;
  EXPECT_EQ(bucket_of(facts), Bucket::settled);
}

/// Every combination of what can be known has one bucket and a reason.
TEST(Recovery, knows_a_bucket_and_a_reason_for_everything) {
  for (unsigned bits = 0; bits < (1U << 12U); ++bits) {
    auto bit = [&, n = 0U]() mutable { return ((bits >> n++) & 1U) != 0; };
    ChildFacts facts;
    facts.folder = bit();
    facts.agent_file = bit();
    facts.started = bit();
    facts.leaving = bit();
    facts.wanted = bit();
    facts.own_worktree = bit();
    facts.worktree_there = bit();
    facts.merged = bit();
    facts.just_asked = bit();
    facts.of_this_boot = bit();
    facts.spent = bit() ? 9 : 0;
    facts.allowed = bit() ? 9 : 0;
    for (int end = 0; end <= static_cast<int>(ChildEnd::shutdown); ++end) {
      for (int keeper = 0; keeper <= 2; ++keeper) {
        for (int process = 0; process <= 3; ++process) {
          facts.end = static_cast<ChildEnd>(end);
          facts.keeper = static_cast<ChildKeeper>(keeper);
          facts.process = static_cast<ProcessIs>(process);
          const ChildPlan plan = plan_for(facts);
          ASSERT_FALSE(plan.why.empty());
          const bool begins = plan.bucket == Bucket::resume || plan.bucket == Bucket::start;
          // Nothing is started beside a process that may live, nor what nobody wants.
          if (begins && facts.end == ChildEnd::none) {
            ASSERT_NE(facts.process, ProcessIs::alive);
            ASSERT_NE(facts.process, ProcessIs::unknown);
            ASSERT_TRUE(facts.wanted);
          }
          ASSERT_TRUE(plan.bucket != Bucket::merge || facts.end == ChildEnd::done);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tend
