// The rules of leases, row by row.
#include "judge/lease.h"

#include <gtest/gtest.h>

namespace tend {
namespace {

using namespace std::chrono_literals;

LeaseFacts held_for(Duration age) {
  return {.held = true, .holder = HolderIs::running, .agent = {}, .ttl = 180s, .age = age};
}

LeaseAgent agent_that_is(Verdict verdict) {
  return {.meant = true, .known = true, .kept = true, .over = false, .verdict = verdict};
}

TEST(JudgeLease, lets_a_holder_renew_ask_and_insist_before_it_is_free_for_others) {
  for (const Duration ttl : {kShortestLease, kUsualLease, kLongestLease}) {
    EXPECT_LT(lease_renews_after(ttl) * 2, lease_asks_after(ttl) + 1ms) << "one renewal may fail";
    EXPECT_LT(lease_asks_after(ttl), lease_insists_after(ttl));
    EXPECT_LT(lease_insists_after(ttl), ttl);
  }
}

TEST(JudgeLease, is_taken_when_its_time_is_over_and_not_a_millisecond_before) {
  const LeaseTaking before = may_take(held_for(180s - 1ms));
  EXPECT_FALSE(before.may);
  EXPECT_EQ(before.again_in, 1ms);
  const LeaseTaking then = may_take(held_for(180s));
  EXPECT_TRUE(then.may);
  EXPECT_EQ(then.because, LeaseFree::expired);
}

TEST(JudgeLease, is_taken_from_the_dead_at_once_and_from_nobody_for_being_unknown) {
  LeaseFacts facts = held_for(0s);
  facts.holder = HolderIs::dead;
  EXPECT_EQ(may_take(facts).because, LeaseFree::holder_dead);
  EXPECT_TRUE(may_take(facts).may);
  for (const HolderIs is : {HolderIs::running, HolderIs::stopped, HolderIs::unknown}) {
    facts.holder = is;
    EXPECT_FALSE(may_take(facts).may);
  }
}

TEST(JudgeLease, is_taken_from_an_agent_that_lives_and_does_not_work) {
  LeaseFacts facts = held_for(1s);
  for (const Verdict verdict : {Verdict::stalled, Verdict::dead, Verdict::looping}) {
    facts.agent = agent_that_is(verdict);
    EXPECT_EQ(may_take(facts).because, LeaseFree::demoted) << word(verdict);
    EXPECT_FALSE(is_in_force(facts).may) << word(verdict);
    facts.agent.kept = false;
    EXPECT_FALSE(may_take(facts).may) << "nobody's word, " << word(verdict);
  }
  for (const Verdict verdict : {Verdict::starting, Verdict::working, Verdict::waiting,
                                Verdict::idle, Verdict::suspect, Verdict::unknown}) {
    facts.agent = agent_that_is(verdict);
    EXPECT_FALSE(may_take(facts).may) << word(verdict);
    EXPECT_TRUE(may_renew(facts).may) << word(verdict);
  }
}

TEST(JudgeLease, is_renewed_for_nobody_who_is_not_proven_to_be_alive_and_at_work) {
  LeaseFacts facts = held_for(1s);
  EXPECT_TRUE(may_renew(facts).may);
  for (const HolderIs is : {HolderIs::stopped, HolderIs::dead, HolderIs::unknown}) {
    facts.holder = is;
    EXPECT_EQ(may_renew(facts).refusal, LeaseRefusal::not_alive);
  }
  facts.holder = HolderIs::running;
  for (const Verdict verdict :
       {Verdict::stalled, Verdict::dead, Verdict::looping, Verdict::orphaned, Verdict::finished}) {
    facts.agent = agent_that_is(verdict);
    EXPECT_EQ(may_renew(facts).refusal, LeaseRefusal::demoted) << word(verdict);
  }
  facts.agent = agent_that_is(Verdict::working);
  facts.agent.kept = false;
  EXPECT_EQ(may_renew(facts).refusal, LeaseRefusal::not_alive);
  facts.agent = {.meant = true};
  EXPECT_EQ(may_renew(facts).refusal, LeaseRefusal::not_alive);
  facts.agent = agent_that_is(Verdict::working);
  facts.agent.over = true;
  EXPECT_EQ(may_renew(facts).refusal, LeaseRefusal::demoted);
}

TEST(JudgeLease, that_ran_out_is_lost_to_its_holder_though_nobody_took_it) {
  EXPECT_EQ(may_renew(held_for(180s)).refusal, LeaseRefusal::lost);
  EXPECT_FALSE(is_in_force(held_for(180s)).may);
  EXPECT_TRUE(is_in_force(held_for(180s - 1ms)).may);
}

TEST(JudgeLease, I086_holds_for_a_time_longer_after_three_unclean_takeovers) {
  LeaseFacts facts = held_for(0s);
  facts.holder = HolderIs::dead;
  facts.takeovers = kFlapping - 1;
  EXPECT_TRUE(may_take(facts).may);
  EXPECT_FALSE(may_take(facts).flapping);
  facts.takeovers = kFlapping;
  const LeaseTaking held = may_take(facts);
  EXPECT_FALSE(held.may);
  EXPECT_TRUE(held.flapping);
  EXPECT_EQ(held.again_in, 360s);
  facts.age = 360s;
  EXPECT_TRUE(may_take(facts).may);
  EXPECT_TRUE(may_take(facts).flapping) << "people are told";
  facts.held = false;
  facts.age = 0s;
  EXPECT_TRUE(may_take(facts).may) << "what was given back is free";
}

TEST(JudgeLease, I086_holds_for_longer_the_later_renewals_come_and_not_without_bounds) {
  LeaseFacts facts = held_for(0s);
  facts.holder = HolderIs::dead;
  facts.takeovers = kFlapping;
  Duration before{};
  for (const Duration lag : {0s, 1s, 60s, 120s, 180s}) {
    facts.lag = lag;
    const LeaseTaking held = may_take(facts);
    EXPECT_FALSE(held.may);
    EXPECT_EQ(held.again_in, 2 * (180s + lag));
    EXPECT_GT(held.again_in, before);
    EXPECT_GT(held.again_in, lease_renews_after(180s) + lag)
        << "who was that late comes back first";
    before = held.again_in;
  }
  EXPECT_TRUE(may_take(facts).why.contains("renewals come up to 3m late")) << may_take(facts).why;
  facts.lag = 24h;
  EXPECT_EQ(may_take(facts).again_in, 4 * 180s) << "twice as long at most";
  facts.age = 4 * 180s;
  EXPECT_TRUE(may_take(facts).may);
  facts.takeovers = kFlapping - 1;
  facts.age = 0s;
  EXPECT_TRUE(may_take(facts).may) << "lag alone holds nobody";
}

TEST(JudgeLease, I086_counts_takeovers_for_as_long_as_the_hold_may_take) {
  for (const Duration lag : {0s, 60s, 180s}) {
    EXPECT_GT(lease_flaps_within(180s, lag), 3 * lease_holds_until(180s, lag))
        << "three takeovers that each had to wait are still too many";
  }
}

TEST(JudgeLease, I086_takes_a_lag_at_its_word_at_once_and_forgets_it_slowly) {
  EXPECT_EQ(lease_lateness(60s, 180s), 0s) << "that is when it is due";
  EXPECT_EQ(lease_lateness(10s, 180s), 0s);
  EXPECT_EQ(lease_lateness(100s, 180s), 40s);
  EXPECT_EQ(lease_lag(0s, 40s), 40s);
  EXPECT_EQ(lease_lag(10s, 40s), 40s);
  EXPECT_EQ(lease_lag(40s, 39s), 39s);
  EXPECT_EQ(lease_lag(40s, 0s), 35s);
  Duration lag = 40s;
  for (int i = 0; i < 30; ++i) lag = lease_lag(lag, 0s);
  EXPECT_LT(lag, 1s) << "after ten of its times";
  for (int i = 0; i < 60; ++i) lag = lease_lag(lag, 0s);
  EXPECT_EQ(lag, 0s);
}

}  // namespace
}  // namespace tend
