// Drawn scenarios are well formed and depend on the seed alone; what is written can be read again.
#include "scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/name.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kSeeds = 300;

const AgentPlan& agent_named(const Scenario& scenario, const std::string& name) {
  const auto found = std::ranges::find(scenario.agents, name, &AgentPlan::name);
  EXPECT_NE(found, scenario.agents.end()) << name;
  return *found;
}

std::size_t depth_of(const Scenario& scenario, const AgentPlan& agent) {
  return agent.parent.empty() ? 1 : 1 + depth_of(scenario, agent_named(scenario, agent.parent));
}

/// Where the step stands; the number of steps if there is none.
std::size_t position_of(const AgentPlan& agent, StepKind kind, const std::string& child) {
  const auto found = std::ranges::find_if(
      agent.steps, [&](const Step& step) { return step.kind == kind && step.child == child; });
  return static_cast<std::size_t>(found - agent.steps.begin());
}

bool has_trouble(const AgentPlan& agent) {
  return std::ranges::any_of(agent.steps, [](const Step& step) { return is_trouble(step.kind); });
}

std::string with(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string small_scenario() {
  Scenario scenario;
  scenario.lasts = 1h;
  scenario.agents = {{.name = "lead",
                      .parent = "",
                      .steps = {{.kind = StepKind::dispatch, .child = "child"},
                                {.kind = StepKind::crash, .times = 3, .child = ""}}},
                     {.name = "child", .parent = "lead", .steps = {}}};
  scenario.faults = {{.kind = FaultKind::sleep, .at = 90s, .lasts = 2500ms, .whom = "child"}};
  return format_scenario(scenario);
}

std::string error_of(const std::string& text) {
  const auto read = parse_scenario(text);
  return read ? "none" : read.error().text;
}

TEST(DrawScenario, is_the_same_for_the_same_seed) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    ASSERT_EQ(draw_scenario(seed, {}), draw_scenario(seed, {})) << seed;
  }
}

// Two draws in one expression come in the order that the compiler likes. Whoever changes what is
// drawn takes the number that this prints; it has to be the same with g++ and with clang.
TEST(DrawScenario, is_the_same_with_every_compiler) {
  std::string all;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    all += format_scenario(draw_scenario(seed, {}));
  }
  EXPECT_EQ(Name(all).hash(), 0x995405d59a9192dU);
}

TEST(DrawScenario, differs_from_seed_to_seed) {
  std::set<std::string> drawn;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Scenario scenario = draw_scenario(seed, {});
    scenario.seed = 0;
    drawn.insert(format_scenario(scenario));
  }
  EXPECT_EQ(drawn.size(), kSeeds);
}

TEST(DrawScenario, dispatches_every_child_once_and_awaits_it_before_it_merges) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Scenario scenario = draw_scenario(seed, {});
    for (const AgentPlan& child : scenario.agents) {
      if (child.parent.empty()) continue;
      const AgentPlan& parent = agent_named(scenario, child.parent);
      const auto dispatches = std::ranges::count_if(parent.steps, [&](const Step& step) {
        return step.kind == StepKind::dispatch && step.child == child.name;
      });
      ASSERT_EQ(dispatches, 1) << seed << " " << child.name;
      const std::size_t awaits = position_of(parent, StepKind::await, "");
      ASSERT_LT(position_of(parent, StepKind::dispatch, child.name), awaits) << seed;
      ASSERT_LT(awaits, position_of(parent, StepKind::merge, child.name)) << seed;
      ASSERT_LT(awaits, parent.steps.size()) << seed;
    }
  }
}

TEST(DrawScenario, keeps_trees_small_and_lets_only_speaking_agents_dispatch) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Scenario scenario = draw_scenario(seed, {});
    ASSERT_GE(scenario.agents.size(), 1U);
    ASSERT_LE(scenario.agents.size(), 12U);
    ASSERT_LE(std::ranges::count(scenario.agents, "", &AgentPlan::parent), 3) << seed;
    for (const AgentPlan& agent : scenario.agents) {
      ASSERT_LE(depth_of(scenario, agent), 4U) << seed;
      if (agent.parent.empty()) continue;
      const Voice above = agent_named(scenario, agent.parent).voice;
      ASSERT_TRUE(speaks(above) && above != Voice::opencode) << seed;
    }
  }
}

TEST(DrawScenario, gives_a_program_that_promises_nothing_no_hangs) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const AgentPlan& agent : draw_scenario(seed, {.policy = "plain", .faults = {}}).agents) {
      ASSERT_EQ(agent.voice, Voice::lines);
      ASSERT_FALSE(
          std::ranges::any_of(agent.steps, [](const Step& step) { return is_hang(step.kind); }));
    }
  }
}

TEST(DrawScenario, lets_an_agent_hang_at_the_start_only_there) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const AgentPlan& agent : draw_scenario(seed, {}).agents) {
      bool began = false;
      for (const Step& step : agent.steps) {
        ASSERT_FALSE(began && step.kind == StepKind::hang_start) << seed;
        began = step.kind != StepKind::hang_start;
      }
    }
  }
}

TEST(DrawScenario, ends_every_fault_before_the_world_settles) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Scenario scenario = draw_scenario(seed, {});
    for (const Fault& fault : scenario.faults) {
      ASSERT_GE(fault.at, 2min) << seed;
      ASSERT_LE(fault.at + fault.lasts, scenario.lasts) << seed;
    }
    const bool troubled =
        !scenario.faults.empty() || std::ranges::any_of(scenario.agents, has_trouble);
    const bool settles = troubled || !scenario.messages.empty() || !scenario.contenders.empty() ||
                         !scenario.services.empty();
    ASSERT_EQ(scenario.settles, settles ? Duration{4h} : Duration{}) << seed;
  }
}

TEST(DrawScenario, leaves_a_quarter_of_the_worlds_without_faults_and_gives_one_kind_to_another) {
  std::uint64_t none = 0;
  std::uint64_t one = 0;
  std::set<FaultKind> seen;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    std::set<FaultKind> kinds;
    for (const Fault& fault : draw_scenario(seed, {}).faults) kinds.insert(fault.kind);
    if (kinds.empty()) ++none;
    if (kinds.size() == 1) ++one;
    seen.merge(kinds);
  }
  EXPECT_NEAR(static_cast<double>(none), kSeeds / 4.0, kSeeds / 12.0);
  EXPECT_GT(one, kSeeds / 6);
  EXPECT_EQ(seen.size(), kFaultWords.size());
}

TEST(DrawScenario, draws_only_faults_that_were_wished_for) {
  const Wishes wishes{
      .policy = "", .faults = {FaultKind::sleep, FaultKind::power_cut}, .all_faults = false};
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Scenario scenario = draw_scenario(seed, wishes);
    ASSERT_FALSE(scenario.faults.empty()) << seed;
    for (const Fault& fault : scenario.faults) {
      ASSERT_TRUE(fault.kind == FaultKind::sleep || fault.kind == FaultKind::power_cut) << seed;
    }
  }
}

TEST(DrawScenario, has_a_patrol_in_some_worlds_with_tasks_and_in_no_other) {
  std::uint64_t with_tasks = 0;
  std::uint64_t patrolled = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Scenario scenario = draw_scenario(seed, {});
    const bool has_tasks = std::ranges::any_of(scenario.agents, &AgentPlan::task);
    const bool has_patrol = scenario.patrol > Duration::zero();
    with_tasks += has_tasks ? 1 : 0;
    patrolled += has_patrol ? 1 : 0;
    // Who is asked works on no task any more.
    const bool had_tasks = has_tasks || !scenario.messages.empty();
    ASSERT_TRUE(had_tasks || !has_patrol) << seed;
    ASSERT_TRUE(has_patrol || scenario.outsiders.empty()) << seed;
    for (const Fault& fault : scenario.faults) {
      ASSERT_TRUE(has_patrol || !is_of_patrol(fault.kind)) << seed;
    }
  }
  EXPECT_GT(patrolled, with_tasks / 3);
  EXPECT_LT(patrolled, with_tasks * 3 / 5);
}

TEST(DrawScenario, asks_agents_and_writes_to_them_where_that_is_wished_for) {
  const Wishes wishes{.policy = "", .faults = {FaultKind::sender_at_call}, .all_faults = false};
  std::uint64_t gated = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Scenario scenario = draw_scenario(seed, wishes);
    const bool asks = std::ranges::any_of(scenario.agents, &AgentPlan::is_asked);
    gated += asks ? 1 : 0;
    ASSERT_EQ(asks, !scenario.messages.empty()) << seed;
    for (const AgentPlan& agent : scenario.agents) {
      const bool rests = position_of(agent, StepKind::rest, "") < agent.steps.size();
      ASSERT_EQ(rests, agent.is_asked()) << seed;
      if (!agent.is_asked()) continue;
      ASSERT_TRUE(agent.parent.empty() && agent.voice == Voice::claude) << seed;
      ASSERT_NE(agent.probe.deliver, agent.probe.takes > Duration::zero()) << seed;
    }
    for (const SenderPlan& sender : scenario.senders) {
      ASSERT_TRUE(agent_named(scenario, sender.agent).is_asked()) << seed;
    }
    for (const Fault& fault : scenario.faults) {
      ASSERT_TRUE(asks || !is_of_gate(fault.kind)) << seed;
    }
  }
  EXPECT_GT(gated, kSeeds / 2);
}

TEST(DrawScenario, asks_agents_and_writes_to_them_in_one_world_of_eight) {
  std::uint64_t gated = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Scenario scenario = draw_scenario(seed, {});
    const bool asks = std::ranges::any_of(scenario.agents, &AgentPlan::is_asked);
    gated += asks ? 1 : 0;
    ASSERT_EQ(asks, !scenario.messages.empty()) << seed;
    for (const Fault& fault : scenario.faults) {
      ASSERT_TRUE(asks || !is_of_gate(fault.kind)) << seed;
    }
  }
  EXPECT_NEAR(static_cast<double>(gated), kSeeds / 8.0, kSeeds / 16.0);
}

TEST(DrawScenario, lets_some_want_to_lead_in_one_world_of_twelve_and_where_that_is_wished_for) {
  const Wishes wishes{.policy = "", .faults = {FaultKind::kill_contender}, .all_faults = false};
  std::uint64_t contended = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    ASSERT_GE(draw_scenario(seed, wishes).contenders.size(), 2U) << seed;
    const Scenario scenario = draw_scenario(seed, {});
    if (!scenario.contenders.empty()) ++contended;
    for (const ContenderPlan& contender : scenario.contenders) {
      ASSERT_LT(contender.begins, contender.ends) << seed;
      ASSERT_LE(contender.ends, scenario.lasts) << seed;
      ASSERT_GE(contender.ttl, 5s) << seed;
    }
    for (const Fault& fault : scenario.faults) {
      ASSERT_TRUE(!scenario.contenders.empty() || !is_of_lease(fault.kind)) << seed;
    }
  }
  EXPECT_NEAR(static_cast<double>(contended), kSeeds / 12.0, kSeeds / 20.0);
}

TEST(DrawScenario, lets_services_beat_in_one_world_of_twelve_and_where_that_is_wished_for) {
  const Wishes wishes{.policy = "", .faults = {FaultKind::kill_service}, .all_faults = false};
  std::uint64_t served = 0;
  std::uint64_t for_agents = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Scenario wished = draw_scenario(seed, wishes);
    ASSERT_FALSE(wished.services.empty()) << seed;
    ASSERT_FALSE(wished.faults.empty()) << seed;
    if (!wished.services.front().agent.empty()) ++for_agents;
    const Scenario scenario = draw_scenario(seed, {});
    if (!scenario.services.empty()) ++served;
    for (const ServicePlan& service : scenario.services) {
      ASSERT_LT(service.begins, service.ends) << seed;
      ASSERT_GE(service.interval, 5s) << seed;
    }
    for (const Fault& fault : scenario.faults) {
      ASSERT_TRUE(!scenario.services.empty() || !is_of_service(fault.kind)) << seed;
    }
  }
  EXPECT_NEAR(static_cast<double>(served), kSeeds / 12.0, kSeeds / 20.0);
  EXPECT_NEAR(static_cast<double>(for_agents), kSeeds * 0.4, kSeeds * 0.1);
}

TEST(DrawScenario, lets_some_lead_alone_where_they_are_stopped_in_the_middle_of_a_write) {
  const Wishes wishes{.policy = "", .faults = {FaultKind::stop_in_write}, .all_faults = false};
  std::uint64_t alone = 0;
  std::uint64_t all = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Scenario scenario = draw_scenario(seed, wishes);
    ASSERT_GE(scenario.contenders.size(), 2U) << seed;
    ASSERT_FALSE(scenario.faults.empty()) << seed;
    all += scenario.contenders.size();
    alone += static_cast<std::uint64_t>(
        std::ranges::count_if(scenario.contenders, &ContenderPlan::alone));
  }
  EXPECT_GT(alone, all / 10);
  EXPECT_LT(alone, all / 2);
}

TEST(DrawScenario, leaves_who_is_compared_with_others_unasked) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Scenario scenario = draw_scenario(seed, {.policy = "agent", .faults = {}});
    ASSERT_TRUE(scenario.messages.empty()) << seed;
  }
}

TEST(DrawScenario, has_a_patrol_if_a_fault_of_it_was_wished_for) {
  const Wishes wishes{.policy = "", .faults = {FaultKind::pause_patrol}, .all_faults = false};
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Scenario scenario = draw_scenario(seed, wishes);
    ASSERT_GE(scenario.patrol, 1min) << seed;
    ASSERT_FALSE(scenario.faults.empty()) << seed;
    for (const Fault& fault : scenario.faults) {
      ASSERT_EQ(fault.kind, FaultKind::pause_patrol) << seed;
    }
  }
}

TEST(DrawScenario, has_faults_of_a_moment_in_few_worlds_and_in_all_that_were_wished_for) {
  const Wishes wishes{.policy = "", .faults = {FaultKind::half_a_merge}, .all_faults = false};
  std::uint64_t many = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto faults = draw_scenario(seed, {}).faults;
    const bool some = std::ranges::any_of(faults, is_of_a_moment, &Fault::kind);
    many += some ? 1 : 0;
    const auto wished = draw_scenario(seed, wishes).faults;
    ASSERT_FALSE(wished.empty()) << seed;
    for (const Fault& fault : wished) ASSERT_EQ(fault.kind, FaultKind::half_a_merge) << seed;
  }
  EXPECT_GT(many, kSeeds / 20);
  EXPECT_LT(many, kSeeds / 3);
}

TEST(DrawScenario, has_each_kind_of_a_rare_moment_where_it_was_wished_for_and_what_it_needs) {
  for (std::size_t i = 0; i < kFaultWords.size(); ++i) {
    const auto kind = static_cast<FaultKind>(i);
    if (!is_of_a_rare_moment(kind)) continue;
    const Wishes wishes{.policy = "", .faults = {kind}, .all_faults = false};
    for (std::uint64_t seed = 0; seed < kSeeds / 10; ++seed) {
      const Scenario scenario = draw_scenario(seed, wishes);
      ASSERT_FALSE(scenario.faults.empty()) << kFaultWords[i] << " " << seed;
      for (const Fault& fault : scenario.faults) ASSERT_EQ(fault.kind, kind) << seed;
      ASSERT_TRUE(!wants_patrol(kind) || scenario.patrol > Duration{}) << seed;
    }
  }
}

TEST(DrawScenario, has_agents_that_are_refused_in_some_worlds_and_in_none_that_is_compared) {
  const auto is_refused = [](const Scenario& scenario) {
    return std::ranges::any_of(scenario.agents, [](const AgentPlan& agent) {
      return std::ranges::any_of(agent.steps,
                                 [](const Step& step) { return is_refusal(step.kind); });
    });
  };
  std::uint64_t many = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    many += is_refused(draw_scenario(seed, {})) ? 1U : 0U;
    ASSERT_FALSE(is_refused(draw_scenario(seed, {.policy = "agent", .faults = {}}))) << seed;
  }
  EXPECT_GT(many, kSeeds / 20);
  EXPECT_LT(many, kSeeds / 3);
}

TEST(DrawScenario, has_other_agents_in_some_worlds_and_in_none_that_is_compared) {
  const auto is_other = [](const AgentPlan& agent) {
    return agent.wrapped || agent.voice == Voice::gemini || agent.voice == Voice::opencode;
  };
  std::uint64_t many = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Scenario drawn = draw_scenario(seed, {});
    many += std::ranges::any_of(drawn.agents, is_other) ? 1U : 0U;
    const Scenario compared = draw_scenario(seed, {.policy = "agent", .faults = {}});
    ASSERT_TRUE(std::ranges::none_of(compared.agents, is_other)) << seed;
  }
  EXPECT_GT(many, kSeeds / 10);
  EXPECT_LT(many, kSeeds / 4);
}

TEST(DrawScenario, has_other_agents_do_only_what_they_were_seen_to_do) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    for (const AgentPlan& agent : draw_scenario(seed, {}).agents) {
      ASSERT_TRUE(agent.voice != Voice::gemini || agent.wrapped) << seed;
      if (agent.voice != Voice::gemini && agent.voice != Voice::opencode) continue;
      ASSERT_FALSE(agent.is_asked()) << seed;
      for (const Step& step : agent.steps) {
        using enum StepKind;
        const bool is_held = step.kind == rate_limit || step.kind == overload;
        const bool is_claudes =
            step.kind == ask || step.kind == limit_exit || step.kind == timeout_exit;
        ASSERT_FALSE(is_held || is_claudes) << seed;
      }
    }
  }
}

TEST(DrawScenario, draws_as_many_agents_of_a_policy_as_were_wished_for) {
  const Scenario scenario = draw_scenario(3, {.agents = 7, .policy = "critical", .faults = {}});
  ASSERT_EQ(scenario.agents.size(), 7U);
  for (const AgentPlan& agent : scenario.agents) {
    EXPECT_EQ(agent.policy, "critical");
    EXPECT_EQ(agent.voice, Voice::beats);
  }
}

TEST(DrawScenario, plain_is_one_lead_with_children_and_nothing_that_goes_wrong) {
  const Scenario scenario =
      draw_scenario(5, {.agents = 20, .policy = "", .faults = {}, .plain = true});
  ASSERT_EQ(scenario.agents.size(), 20U);
  EXPECT_EQ(std::ranges::count(scenario.agents, scenario.agents[0].name, &AgentPlan::parent), 19);
  EXPECT_FALSE(std::ranges::any_of(scenario.agents, has_trouble));
  EXPECT_TRUE(scenario.faults.empty());
  EXPECT_EQ(scenario.settles, Duration{});
}

TEST(ScenarioJson, is_read_as_it_was_written) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Scenario scenario = draw_scenario(seed, {});
    const auto read = parse_scenario(format_scenario(scenario));
    ASSERT_TRUE(read.has_value()) << seed << ": " << read.error().text;
    ASSERT_EQ(*read, scenario) << seed;
  }
}

TEST(ScenarioJson, holds_times_in_seconds) {
  EXPECT_NE(small_scenario().find(R"("at":90,"lasts":2.5)"), std::string::npos);
}

TEST(ScenarioJson, refuses_what_is_no_object) {
  EXPECT_EQ(error_of("[]"), "scenario: the text is no JSON object");
}

TEST(ScenarioJson, says_in_which_line_the_text_is_no_json) {
  const std::string text = small_scenario();
  EXPECT_EQ(error_of(with(text, R"("name":"child",)", R"("name":"child",,)")),
            "scenario: no JSON at line 4: wrong at the end of '  {\"name\":\"child\",,'");
  EXPECT_EQ(error_of(text.substr(0, text.find("\n\"faults\""))),
            "scenario: no JSON at line 4: it ends there");
  EXPECT_EQ(error_of("{\xff"), "scenario: no JSON at line 1: wrong at the end of '{?'");
}

TEST(ScenarioJson, says_where_a_field_is_missing) {
  EXPECT_EQ(error_of(with(small_scenario(), R"("lasts":2.5,)", "")),
            "scenario: faults[0] has no \"lasts\"");
  EXPECT_EQ(error_of(with(small_scenario(), R"(,"times":3)", "")),
            "scenario: agents[0] steps[1] has no \"times\"");
  EXPECT_EQ(error_of(with(small_scenario(), R"("groups":false,)", "")),
            "scenario: has no \"groups\"");
}

TEST(ScenarioJson, says_where_a_word_is_unknown) {
  EXPECT_EQ(error_of(with(small_scenario(), "\"crash\"", "\"crush\"")),
            "scenario: agents[0] steps[1] \"kind\" is no word that is known: 'crush'; did you mean "
            "'crash'?");
  EXPECT_EQ(error_of(with(small_scenario(), "\"sleep\"", "\"nap\"")),
            "scenario: faults[0] \"kind\" is no word that is known: 'nap'");
}

TEST(ScenarioJson, says_where_a_value_is_of_the_wrong_type) {
  EXPECT_EQ(error_of(with(small_scenario(), R"("at":90)", R"("at":-1)")),
            "scenario: faults[0] \"at\" is no time in seconds");
  EXPECT_EQ(error_of(with(small_scenario(), R"("steps":[])", R"("steps":0)")),
            "scenario: agents[1] \"steps\" is no list");
  EXPECT_EQ(error_of(with(small_scenario(), R"("groups":false)", R"("groups":0)")),
            "scenario: \"groups\" is neither true nor false");
}

TEST(ScenarioJson, refuses_messages_from_and_to_nobody) {
  Scenario scenario;
  scenario.lasts = 1h;
  scenario.agents = {{.name = "lead", .parent = "", .steps = {}}};
  scenario.senders = {{.name = "ann", .agent = "lead"}};
  scenario.messages = {{.from = "ann"}};
  const std::string text = format_scenario(scenario);
  EXPECT_EQ(parse_scenario(text), scenario);
  EXPECT_EQ(error_of(with(text, R"("from":"ann")", R"("from":"bob")")),
            "scenario: a message is from 'bob', who is not there");
  EXPECT_EQ(error_of(with(text, R"("agent":"lead")", R"("agent":"bob")")),
            "scenario: sender 'ann' writes to 'bob', who is not there");
  EXPECT_EQ(error_of(with(text, R"("when":"at-once")", R"("when":"never")")),
            "scenario: messages[0] \"when\" is no word that is known: 'never'");
}

TEST(ScenarioJson, refuses_those_who_want_to_lead_without_a_name_or_a_time) {
  Scenario scenario;
  scenario.lasts = 1h;
  scenario.agents = {{.name = "lead", .parent = "", .steps = {}}};
  scenario.contenders = {
      {.name = "ann", .begins = 1min, .ends = 30min, .ttl = 5s, .works = 1min, .rests = 3s},
      {.name = "bob", .ends = 30min, .ttl = 7s, .works = 1min, .rests = 3s, .alone = true}};
  const std::string text = format_scenario(scenario);
  EXPECT_EQ(parse_scenario(text), scenario);
  EXPECT_EQ(error_of(with(text, R"("name":"ann")", R"("name":"lead")")),
            "scenario: a contender has no name of its own: 'lead'");
  EXPECT_EQ(error_of(with(text, R"("ttl":5)", R"("ttl":1)")),
            "scenario: contender 'ann' has no time for its lease");
}

TEST(ScenarioJson, refuses_those_who_may_lead_when_the_world_ends) {
  Scenario scenario;
  scenario.lasts = 1h;
  scenario.settles = 30min;
  scenario.agents = {{.name = "lead", .parent = "", .steps = {}}};
  scenario.contenders = {
      {.name = "ann", .ends = 50min, .ttl = 5s, .works = 30min, .rests = 3s},
      {.name = "bob", .ends = 60min, .ttl = 5s, .works = 0min, .rests = 3s},
      {.name = "never", .begins = 1h, .ends = 1h, .ttl = 5s, .works = 24h, .rests = 3s}};
  EXPECT_EQ(parse_scenario(format_scenario(scenario)), scenario);
  const auto refused = [&](const std::string& name) {
    EXPECT_EQ(error_of(format_scenario(scenario)),
              fmt::format("scenario: contender '{}' may lead when the world ends: its \"ends\" and "
                          "the \"works\" of all contenders are together at most \"lasts\" and "
                          "\"settles\"",
                          name));
  };
  scenario.contenders[1].works = 1ms;  // it may have to wait for ann
  refused("bob");
  scenario.contenders[0].works = 24'000h;
  refused("ann");
}

TEST(ScenarioJson, refuses_a_question_that_is_given_up_before_the_next) {
  Scenario scenario;
  scenario.lasts = 1h;
  scenario.agents = {{.name = "lead",
                      .parent = "",
                      .probe = {.interval = 60s, .deadline = 60s, .deliver = true},
                      .steps = {}}};
  const std::string text = format_scenario(scenario);
  EXPECT_EQ(parse_scenario(text), scenario);
  EXPECT_EQ(error_of(with(text, R"("deadline":60)", R"("deadline":59)")),
            "scenario: agents[0] probe \"deadline\" is shorter than \"interval\"");
}

TEST(ScenarioJson, refuses_a_world_without_agents_or_with_more_than_can_be_wished_for) {
  Scenario scenario = draw_scenario(1, {.agents = 1000, .policy = "", .faults = {}, .plain = true});
  EXPECT_EQ(parse_scenario(format_scenario(scenario)), scenario);
  scenario.agents.push_back({.name = "more", .parent = "", .steps = {}});
  EXPECT_EQ(error_of(format_scenario(scenario)), "scenario: \"agents\" are 1 to 1000, not 1001");
  scenario.agents.clear();
  EXPECT_EQ(error_of(format_scenario(scenario)), "scenario: \"agents\" are 1 to 1000, not 0");
}

TEST(ScenarioJson, refuses_services_without_a_name_an_interval_or_somebody_to_beat_for) {
  Scenario scenario;
  scenario.lasts = 1h;
  scenario.agents = {{.name = "lead", .parent = "", .steps = {}}};
  scenario.services = {{.name = "ann", .agent = "lead", .ends = 30min, .interval = 5s},
                       {.name = "bob",
                        .agent = "",
                        .begins = 1min,
                        .ends = 30min,
                        .interval = 7s,
                        .lives = 2min,
                        .rests = 3s,
                        .by_pid = true}};
  const std::string text = format_scenario(scenario);
  EXPECT_EQ(parse_scenario(text), scenario);
  EXPECT_EQ(error_of(with(text, R"("name":"ann")", R"("name":"lead")")),
            "scenario: a service has no name of its own: 'lead'");
  EXPECT_EQ(error_of(with(text, R"("agent":"lead")", R"("agent":"ann")")),
            "scenario: service 'ann' beats for 'ann', who is not there");
  EXPECT_EQ(error_of(with(text, R"("interval":5)", R"("interval":0)")),
            "scenario: service 'ann' has no interval");
}

TEST(ScenarioJson, refuses_outsiders_that_are_somebody_else_or_work_in_no_known_context) {
  Scenario scenario;
  scenario.lasts = 1h;
  scenario.patrol = 5min;
  scenario.agents = {{.name = "lead", .parent = "", .steps = {}}};
  scenario.outsiders = {{.name = "guest"}};
  const std::string text = format_scenario(scenario);
  EXPECT_EQ(parse_scenario(text).value(), scenario);
  EXPECT_EQ(error_of(with(text, "\"guest\"", "\"lead\"")),
            "scenario: an outsider has no name of its own: 'lead'");
  EXPECT_EQ(error_of(with(text, "\"active\"", "\"idle\"")),
            "scenario: outsiders[0] \"context\" is no word that is known: 'idle'");
}

TEST(ScenarioJson, refuses_agents_that_do_not_fit_together) {
  EXPECT_EQ(error_of(with(small_scenario(), R"("whom":"child")", R"("whom":"nobody")")),
            "scenario: a fault sleep strikes 'nobody', who is not there");
  EXPECT_EQ(error_of(with(small_scenario(), R"("child":"child")", R"("child":"lead")")),
            "scenario: agent 'lead' has a step dispatch for 'lead', which is no child of it");
  EXPECT_EQ(error_of(with(small_scenario(), R"("parent":"lead")", R"("parent":"child")")),
            "scenario: agent 'child' has a parent 'child' that does not stand before it");
}

TEST(ScenarioJson, refuses_names_that_the_product_refuses) {
  const std::string rule =
      "scenario: a name wants letters, digits, '.', '_' and '-', at most 64, not ";
  const std::pair<const char*, const char*> names[] = {{"../../x", "'../../x'"},
                                                       {"-rf", "'-rf'"},
                                                       {"a b", "'a b'"},
                                                       {".", "'.'"},
                                                       {"x\\ny", "'x\\x0ay'"}};
  for (const auto& [name, shown] : names) {
    const std::string text =
        with(small_scenario(), R"("name":"lead")", fmt::format(R"("name":"{}")", name));
    EXPECT_EQ(error_of(text), rule + shown);
  }
  const std::string endless = std::string(5000, 'x');
  const std::string error =
      error_of(with(small_scenario(), R"("name":"lead")", R"("name":")" + endless + "\""));
  EXPECT_TRUE(error.starts_with(rule)) << error;
  EXPECT_LT(error.size(), 200U);
}

TEST(ScenarioJson, refuses_names_of_others_that_are_none) {
  Scenario scenario;
  scenario.lasts = 1h;
  scenario.agents = {{.name = "lead", .parent = "", .steps = {}}};
  scenario.outsiders = {{.name = "guest"}};
  scenario.senders = {{.name = "ann", .agent = "lead"}};
  scenario.contenders = {{.name = "bob", .ends = 30min, .ttl = 7s}};
  scenario.services = {{.name = "cat", .agent = "lead", .ends = 30min, .interval = 5s}};
  const std::string text = format_scenario(scenario);
  EXPECT_EQ(parse_scenario(text), scenario);
  for (const std::string name : {"guest", "ann", "bob", "cat"}) {
    EXPECT_TRUE(error_of(with(text, "\"" + name + "\"", R"("../x")")).contains("a name wants"))
        << name;
  }
}

TEST(ScenarioJson, names_a_word_that_it_does_not_know) {
  EXPECT_EQ(error_of(with(small_scenario(), R"("groups":false)", R"("groups":false,"patrl":300)")),
            "scenario: has 'patrl', which is no word that is known; did you mean 'patrol'?");
  EXPECT_EQ(error_of(with(small_scenario(), R"("times":3)", R"("times":3,"extra":1)")),
            "scenario: agents[0] steps[1] has 'extra', which is no word that is known");
  EXPECT_EQ(error_of(with(small_scenario(), R"("at":90)", R"("at":90,"who":"lead")")),
            "scenario: faults[0] has 'who', which is no word that is known; did you mean 'whom'?");
}

TEST(ScenarioJson, refuses_a_fault_of_an_agent_that_strikes_nobody) {
  Scenario scenario;
  scenario.lasts = 1h;
  scenario.agents = {{.name = "lead", .parent = "", .steps = {}}};
  scenario.outsiders = {{.name = "guest"}};
  scenario.faults = {{.kind = FaultKind::kill_agent, .at = 90s, .whom = "lead"}};
  const std::string text = format_scenario(scenario);
  EXPECT_EQ(parse_scenario(text), scenario);
  EXPECT_EQ(error_of(with(text, R"("whom":"lead")", R"("whom":"")")),
            "scenario: a fault kill-agent strikes nobody: \"whom\" wants the name of an agent");
  EXPECT_EQ(error_of(with(text, R"("whom":"lead")", R"("whom":"guest")")),
            "scenario: a fault kill-agent strikes 'guest', who is not there");
}

TEST(ScenarioJson, refuses_so_few_numbers_that_a_process_would_get_none) {
  const auto pids = [](const char* number) {
    return error_of(
        with(small_scenario(), R"("most_pid":0)", fmt::format(R"("most_pid":{})", number)));
  };
  const std::string too_few =
      "scenario: \"most_pid\" is too small for so many agents: 0, or 1010 to 4194303";
  EXPECT_EQ(pids("1"), too_few);
  EXPECT_EQ(pids("1009"), too_few);
  EXPECT_EQ(pids("1010"), "none");
  EXPECT_EQ(pids("4194303"), "none");
  EXPECT_EQ(pids("4194304"), "scenario: \"most_pid\" is no whole number of at most 4194303");
}

TEST(DrawScenario, has_a_number_for_every_process_however_many_agents_were_wished_for) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Scenario scenario =
        draw_scenario(seed, {.hours = 1h, .agents = 1000, .policy = "", .faults = {}});
    if (scenario.most_pid == 0) continue;
    ASSERT_GE(scenario.most_pid, fewest_pids(scenario.agents.size())) << seed;
  }
}

TEST(ScenarioFile, that_cannot_be_read_is_an_error_and_no_end_of_the_program) {
  const std::string folder = testing::TempDir();
  EXPECT_EQ(load_scenario(folder).error().text,
            fmt::format("cannot read '{}': Is a directory", folder));
  EXPECT_EQ(load_scenario(folder + "no-such-file").error().text,
            fmt::format("cannot read '{}no-such-file': No such file or directory", folder));
  EXPECT_EQ(load_scenario("/dev/zero").error().text,
            "cannot read '/dev/zero': it is larger than 16 MB");
  EXPECT_EQ(load_scenario("/dev/null").error().text,
            "'/dev/null': scenario: no JSON at line 1: it ends there");
}

TEST(ScenarioFile, is_played_as_it_was_written) {
  const std::string path = testing::TempDir() + "tend-sim-scenario.json";
  std::ofstream(path) << small_scenario();
  EXPECT_EQ(load_scenario(path).value(), parse_scenario(small_scenario()).value());
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace tend::sim
