// The numbers of the built-in policies, and what a limit may be.
#include "judge/policy.h"

#include <gtest/gtest.h>

namespace tend {
namespace {

using namespace std::chrono_literals;

Policy built_in(std::string_view name) { return built_in_policy(name).value(); }

TEST(BuiltInPolicy, knows_exactly_the_listed_names) {
  for (const std::string_view name : kBuiltInPolicies) EXPECT_EQ(built_in(name).name, name);
  EXPECT_FALSE(built_in_policy("Agent").has_value());
  EXPECT_FALSE(built_in_policy("").has_value());
}

TEST(BuiltInPolicy, agent_has_a_limit_for_every_phase) {
  const Limits limits = built_in("agent").limits;
  EXPECT_EQ(limits.start, 90s);
  EXPECT_EQ(limits.model, 720s);
  EXPECT_EQ(limits.tool, 900s);
  EXPECT_EQ(limits.compact, 600s);
  EXPECT_EQ(limits.retry, 600s);
  EXPECT_EQ(limits.person, 3600s);
  EXPECT_EQ(limits.children, 600s);
  EXPECT_EQ(limits.background, 600s);
  EXPECT_EQ(limits.idle, 300s);
  EXPECT_EQ(limits.exiting, 60s);
  EXPECT_EQ(limits.beats, (Patience{120s, 300s}));
  EXPECT_EQ(limits.confirm, 120s);
  EXPECT_EQ(limits.orphan, 120s);
  EXPECT_EQ(limits.grace, 60s);
}

TEST(BuiltInPolicy, agent_has_a_budget_and_no_rungs_of_its_own) {
  const Policy agent = built_in("agent");
  EXPECT_EQ(agent.budget, (Budget{3, 9, 1800s}));
  EXPECT_EQ(agent.beat, 30s);
  EXPECT_TRUE(agent.ladder.empty());
  EXPECT_FALSE(agent.direct);
  EXPECT_EQ(agent.promise, Promise::stream);
}

TEST(BuiltInPolicy, workers_start_with_their_suspect_limit) {
  const std::pair<std::string_view, Patience> rows[] = {
      {"worker", {600s, 900s}}, {"critical", {300s, 450s}}, {"overnight", {1800s, 2700s}}};
  for (const auto& [name, beats] : rows) {
    Policy expected = built_in("agent");
    expected.name = name;
    expected.promise = Promise::beats;
    expected.limits.beats = beats;
    expected.limits.start = beats.suspect;
    EXPECT_EQ(built_in(name), expected) << name;
  }
}

TEST(BuiltInPolicy, plain_promises_nothing_and_is_never_late) {
  const Policy plain = built_in("plain");
  EXPECT_EQ(plain.promise, Promise::nothing);
  EXPECT_EQ(plain.limits.start, kNoLimit);
  EXPECT_EQ(plain.limits.beats, (Patience{kNoLimit, kNoLimit}));
}

TEST(SetLimit, reaches_every_key) {
  for (const LimitKey& key : kLimitKeys) {
    Policy policy = built_in("agent");
    ASSERT_TRUE(set_limit(policy, key.name, 77s)) << key.name;
    EXPECT_EQ(policy.limits.*key.member, 77s) << key.name;
  }
}

TEST(SetLimit, says_which_names_exist) {
  Policy policy = built_in("agent");
  EXPECT_EQ(
      set_limit(policy, "modell", 1s).error().text,
      "no such limit 'modell'; allowed: start, model, tool, compact, retry, person, children, "
      "background, idle, exiting, confirm, orphan, grace, beats; did you mean 'model'?");
  EXPECT_EQ(set_limit(policy, "beats", 1s).error().text, "beats wants a pair: [suspect, stalled]");
  EXPECT_EQ(policy, built_in("agent"));
}

TEST(SetLimit, takes_no_limit_only_where_silence_may_go_on) {
  for (const LimitKey& key : kLimitKeys) {
    Policy policy = built_in("agent");
    const bool ends = key.name == "person" || key.name == "children" || key.name == "exiting" ||
                      key.name == "confirm" || key.name == "orphan" || key.name == "grace";
    EXPECT_EQ(set_limit(policy, key.name, kNoLimit).has_value(), !ends) << key.name;
  }
}

TEST(SetLimit, takes_zero_only_where_it_skips_a_wait) {
  for (const LimitKey& key : kLimitKeys) {
    Policy policy = built_in("agent");
    const bool skips = key.name == "confirm" || key.name == "orphan" || key.name == "grace";
    EXPECT_EQ(set_limit(policy, key.name, 0s).has_value(), skips) << key.name;
  }
}

TEST(SetLimit, refuses_times_that_cannot_be_added_up) {
  Policy policy = built_in("agent");
  EXPECT_FALSE(set_limit(policy, "model", -1ms));
  EXPECT_FALSE(set_limit(policy, "model", kLongestTime + 1ms));
  EXPECT_TRUE(set_limit(policy, "model", kLongestTime));
}

TEST(SetBeats, moves_the_start_limit_of_a_worker_only) {
  Policy worker = built_in("worker");
  ASSERT_TRUE(set_beats(worker, {40s, 50s}));
  EXPECT_EQ(worker.limits.start, 40s);

  Policy agent = built_in("agent");
  ASSERT_TRUE(set_beats(agent, {40s, 50s}));
  EXPECT_EQ(agent.limits.start, 90s);
  EXPECT_EQ(agent.limits.beats, (Patience{40s, 50s}));
}

TEST(SetBeats, lets_a_later_start_limit_win) {
  Policy worker = built_in("worker");
  ASSERT_TRUE(set_beats(worker, {40s, 50s}));
  ASSERT_TRUE(set_limit(worker, "start", 10s));
  EXPECT_EQ(worker.limits.start, 10s);
}

TEST(SetBeats, refuses_zero_and_takes_no_limit) {
  Policy policy = built_in("agent");
  EXPECT_FALSE(set_beats(policy, {0s, 50s}));
  EXPECT_FALSE(set_beats(policy, {50s, 0s}));
  EXPECT_TRUE(set_beats(policy, {kNoLimit, kNoLimit}));
}

}  // namespace
}  // namespace tend
