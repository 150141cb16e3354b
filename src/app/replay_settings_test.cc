// Limits as they are typed, and which policy wins.
#include "app/replay_settings.h"

#include <gtest/gtest.h>

#include "os/sim/sim_world.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

TEST(ParseLimit, reads_a_name_and_a_duration) {
  const auto limit = parse_limit("tool=15m");
  ASSERT_TRUE(limit);
  EXPECT_EQ(limit->name, "tool");
  EXPECT_EQ(std::get<Duration>(limit->value), 15min);
  EXPECT_EQ(std::get<Duration>(parse_limit("idle=90")->value), 90s);
  EXPECT_EQ(std::get<Duration>(parse_limit("model=none")->value), kNoLimit);
}

TEST(ParseLimit, reads_the_pair_of_beats) {
  EXPECT_EQ(std::get<Patience>(parse_limit("beats=120s,300s")->value), (Patience{120s, 300s}));
  EXPECT_EQ(std::get<Patience>(parse_limit("beats=2m/5m")->value), (Patience{2min, 5min}));
}

TEST(ParseLimit, says_what_is_wrong) {
  EXPECT_EQ(parse_limit("tool").error().text, "--limit tool: write NAME=DURATION, as in tool=15m");
  EXPECT_EQ(parse_limit("beats=3").error().text,
            "--limit beats=3: beats wants two durations, as in beats=2m,5m");
  EXPECT_TRUE(parse_limit("tool=soon").error().text.starts_with("--limit tool=soon: 'soon' is no"));
  EXPECT_TRUE(parse_limit("moon=3").error().text.starts_with("--limit moon=3: no such limit"));
}

class PolicyFor : public testing::Test {
 protected:
  Result<Policy> policy() {
    World world = sim.world();
    return policy_for(header, settings, world,
                      [this](std::string_view what) { complaints += what; });
  }

  SimWorld sim;
  TraceHeader header;
  ReplaySettings settings;
  std::string complaints;
};

TEST_F(PolicyFor, is_agent_unless_something_else_is_said) {
  EXPECT_EQ(policy()->name, "agent");
  header.policy = "worker";
  EXPECT_EQ(policy()->name, "worker");
  settings.policy = built_in_policy("critical");
  EXPECT_EQ(policy()->name, "critical");
}

TEST_F(PolicyFor, puts_the_limits_of_the_command_line_over_those_of_the_trace) {
  header.limits = {{"tool", 100s}, {"model", 200s}};
  header.beats = Patience{1s, 2s};
  settings.limits = {{"tool", Duration{300s}}};
  const auto made = policy();
  ASSERT_TRUE(made);
  EXPECT_EQ(made->limits.tool, 300s);
  EXPECT_EQ(made->limits.model, 200s);
  EXPECT_EQ(made->limits.beats, (Patience{1s, 2s}));
}

TEST_F(PolicyFor, sets_the_start_of_a_worker_after_its_beats) {
  header.policy = "worker";
  header.limits = {{"start", 7s}};
  header.beats = Patience{100s, 200s};
  EXPECT_EQ(policy()->limits.start, 7s);
}

TEST_F(PolicyFor, passes_over_a_limit_that_does_not_fit) {
  header.limits = {{"model", 0s}};
  ASSERT_TRUE(policy());
  EXPECT_EQ(policy()->limits.model, built_in_policy("agent")->limits.model);
  EXPECT_TRUE(complaints.starts_with("the limit 'model': must be above 0"));
}

TEST_F(PolicyFor, finds_a_policy_in_the_users_configuration_only) {
  header.policy = "night";
  sim.environment.variables["TEND_HOME"] = "/home/tend";
  EXPECT_TRUE(policy().error().text.starts_with("the trace wants the policy 'night'"));
  sim.files.contents["/home/tend/config.toml"] =
      "[policy.night]\nextends = \"agent\"\nlimits.model = \"20m\"\n";
  ASSERT_TRUE(policy());
  EXPECT_EQ(policy()->limits.model, 20min);
  header.policy = "evil.toml";
  sim.files.contents["evil.toml"] = "[policy.evil]\nextends = \"agent\"\n";
  EXPECT_FALSE(policy());
}

}  // namespace
}  // namespace tend
