// Whole worlds: the same seed is the same world, in a plain one all work gets done, and what once
// went wrong does not go wrong again.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "checks/check.h"
#include "players.h"
#include "scenario.h"
#include "seeded_world.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

std::string said_of(const Tally& tally) {
  std::string text;
  for (const auto& [check, broken] : tally.broken) {
    for (const std::string& what : broken.said) text.append(check).append(": ") += what + "\n";
  }
  return text;
}

/// Scenarios that once violated something, each made as small as it gets.
std::vector<std::filesystem::path> failed_once() {
  std::vector<std::filesystem::path> files;
  const std::filesystem::path folder{TEND_SOURCE_DIR "/test/sim/failed"};
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

TEST(World, of_the_same_seed_has_the_same_hash) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Scenario scenario = draw_scenario(seed, {.hours = 1h, .policy = "", .faults = {}});
    const Outcome once = SeededWorld(scenario).play();
    const Outcome again = SeededWorld(scenario).play();
    EXPECT_EQ(once.digest, again.digest) << seed;
    EXPECT_EQ(once.agent_time, again.agent_time) << seed;
  }
}

TEST(World, with_a_patrol_has_the_same_hash_too) {
  const Wishes wishes{.hours = 2h,
                      .agents = 3,
                      .policy = "",
                      .faults = {FaultKind::kill_patrol, FaultKind::pause_patrol},
                      .all_faults = false};
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Scenario scenario = draw_scenario(seed, wishes);
    ASSERT_GT(scenario.patrol, 0s) << seed;
    const Outcome once = SeededWorld(scenario).play();
    EXPECT_EQ(once.digest, SeededWorld(scenario).play().digest) << seed;
    EXPECT_EQ(once.violations.size(), 0U) << seed;
    EXPECT_FALSE(once.faults.empty()) << seed;
  }
}

TEST(World, with_messages_has_the_same_hash_too) {
  const Wishes wishes{.hours = 2h,
                      .agents = 2,
                      .policy = "",
                      .faults = {FaultKind::sender_at_call, FaultKind::keeper_at_clear},
                      .all_faults = false};
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Scenario scenario = draw_scenario(seed, wishes);
    ASSERT_FALSE(scenario.messages.empty()) << seed;
    const Outcome once = SeededWorld(scenario).play();
    EXPECT_EQ(once.digest, SeededWorld(scenario).play().digest) << seed;
    EXPECT_EQ(once.violations.size(), 0U) << seed;
  }
}

TEST(World, with_a_lease_has_the_same_hash_too) {
  const Wishes wishes{.hours = 2h,
                      .agents = 1,
                      .policy = "",
                      .faults = {FaultKind::contender_at_call, FaultKind::stop_in_write},
                      .all_faults = false};
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Scenario scenario = draw_scenario(seed, wishes);
    ASSERT_FALSE(scenario.contenders.empty()) << seed;
    const Outcome once = SeededWorld(scenario).play();
    EXPECT_EQ(once.digest, SeededWorld(scenario).play().digest) << seed;
    EXPECT_EQ(once.violations.size(), 0U) << seed;
    EXPECT_FALSE(once.faults.empty()) << seed;
  }
}

TEST(World, with_services_has_the_same_hash_too) {
  const Wishes wishes{.hours = 2h,
                      .agents = 1,
                      .policy = "",
                      .faults = {FaultKind::service_at_call, FaultKind::two_services},
                      .all_faults = false};
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Scenario scenario = draw_scenario(seed, wishes);
    ASSERT_FALSE(scenario.services.empty()) << seed;
    const Outcome once = SeededWorld(scenario).play();
    EXPECT_EQ(once.digest, SeededWorld(scenario).play().digest) << seed;
    EXPECT_EQ(once.violations.size(), 0U) << seed;
    EXPECT_FALSE(once.faults.empty()) << seed;
  }
}

/// A Gemini behind its wrapper, which works for half an hour.
Scenario wrapped_world(std::uint64_t strikes) {
  Scenario scenario =
      draw_scenario(1, {.hours = 1h, .policy = "", .faults = {}, .all_faults = false});
  scenario.agents = {{.name = "lead1",
                      .parent = "",
                      .voice = Voice::gemini,
                      .wrapped = true,
                      .steps = {{.kind = StepKind::talk, .takes = 30min, .child = {}}}}};
  scenario.faults = {
      {.kind = FaultKind::kill_agent, .at = 10min, .whom = "lead1", .number = strikes}};
  scenario.settles = 2h;
  return scenario;
}

TEST(World, whose_agent_was_killed_behind_its_wrapper_or_before_it_brings_it_back_once) {
  for (const std::uint64_t strikes : {0U, 1U}) {
    const Scenario scenario = wrapped_world(strikes);
    const Outcome once = SeededWorld(scenario).play();
    EXPECT_EQ(once.digest, SeededWorld(scenario).play().digest) << strikes;
    EXPECT_EQ(once.violations.size(), 0U) << strikes;
    EXPECT_EQ(once.lives, 2U) << strikes;
    EXPECT_EQ(once.finished, 1U) << strikes;
  }
}

TEST(World, whose_root_cannot_be_started_is_no_success) {
  Scenario scenario = draw_scenario(1, {.hours = 1h, .agents = 1, .policy = "", .faults = {}});
  scenario.agents.front().name = "../../x";
  scenario.faults.clear();
  const Tally tally = play_here(scenario);
  ASSERT_TRUE(tally.broken.contains("starts")) << said_of(tally);
  EXPECT_EQ(tally.broken.at("starts").said.front(), "../../x was not started: exit 2 (at 0.000 s)");
}

TEST(World, has_a_check_for_each_name_of_what_may_be_late) {
  using enum FaultKind;
  SeededWorld world(draw_scenario(1, {.hours = 1h,
                                      .policy = "",
                                      .faults = {kill_patrol, kill_contender, kill_service},
                                      .all_faults = false}));
  const auto checks = make_checks(world);
  for (const std::string_view name : kChecksOfLiveness) {
    const auto named = [&](const auto& check) { return check->name() == name; };
    EXPECT_EQ(std::ranges::count_if(checks, named), 1) << name;
  }
}

TEST(World, of_another_seed_has_another_hash) {
  const Wishes wishes{.hours = 1h, .policy = "", .faults = {}};
  EXPECT_NE(SeededWorld(draw_scenario(1, wishes)).play().digest,
            SeededWorld(draw_scenario(2, wishes)).play().digest);
}

TEST(World, that_is_plain_ends_with_all_work_done) {
  const Scenario scenario =
      draw_scenario(1, {.hours = 2h, .agents = 6, .policy = "", .faults = {}, .plain = true});
  const Tally tally = play_here(scenario);
  EXPECT_EQ(said_of(tally), "");
  EXPECT_EQ(tally.finished, 6U);
  EXPECT_EQ(tally.lives, 6U);
  EXPECT_EQ(tally.kills, 0U);
  EXPECT_GT(tally.agent_time, 2h);
}

TEST(World, whose_agents_hang_finds_every_hang) {
  Scenario scenario = draw_scenario(1, {.hours = 1h, .agents = 2, .policy = "agent", .faults = {}});
  scenario.faults.clear();
  scenario.settles = 4h;
  for (AgentPlan& agent : scenario.agents) {
    std::erase_if(agent.steps, [](const Step& step) { return is_trouble(step.kind); });
    agent.steps.insert(agent.steps.begin(), {.kind = StepKind::hang_stream, .child = ""});
  }
  const Tally tally = play_here(scenario);
  EXPECT_EQ(said_of(tally), "");
  EXPECT_EQ(tally.hang_count(), 2U);
  EXPECT_EQ(tally.found_count(), 2U);
}

TEST(World, that_once_failed_holds) {
  const std::vector<std::filesystem::path> files = failed_once();
  ASSERT_FALSE(files.empty());
  for (const std::filesystem::path& file : files) {
    std::ifstream stream(file);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const auto scenario = parse_scenario(text);
    ASSERT_TRUE(scenario.has_value()) << file << ": " << scenario.error().text;
    EXPECT_EQ(said_of(play_here(*scenario)), "") << file;
  }
}

}  // namespace
}  // namespace tend::sim
