// Shrinking against made-up faults: what is needed stays, all else goes, and there is an end.
#include "shrink.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

Step step(StepKind kind, const std::string& child = "", std::uint32_t times = 1) {
  return {.kind = kind, .takes = 1min, .times = times, .child = child};
}

/// A lead with two children, the first of which has one too, some faults, and every switch on.
Scenario large_scenario() {
  Scenario scenario;
  scenario.lasts = 8h;
  scenario.settles = 4h;
  scenario.lossy_hints = true;
  scenario.groups = true;
  scenario.saving_takes = 3s;
  scenario.most_pid = 2000;
  scenario.patrol = 5min;
  for (const char* const name : {"guest1", "guest2", "guest3"}) {
    scenario.outsiders.push_back({.name = name});
  }
  for (const char* const name : {"ann", "bob"}) {
    scenario.senders.push_back({.name = name, .agent = "a"});
    for (int i = 0; i < 5; ++i) scenario.messages.push_back({.from = name, .at = i * 1min});
  }
  const auto agent = [&](const std::string& name, const std::string& parent,
                         std::vector<Step> steps) {
    AgentPlan plan;
    plan.name = name;
    plan.parent = parent;
    plan.steps = std::move(steps);
    for (int i = 0; i < 20; ++i) plan.steps.push_back(step(StepKind::talk));
    scenario.agents.push_back(std::move(plan));
  };
  agent("a", "",
        {step(StepKind::dispatch, "a-1"), step(StepKind::dispatch, "a-2"), step(StepKind::await),
         step(StepKind::merge, "a-1")});
  agent("a-1", "a", {step(StepKind::dispatch, "a-1-1"), step(StepKind::crash, "", 3)});
  agent("a-2", "a", {step(StepKind::hang_tool, "", 2)});
  agent("a-1-1", "a-1", {});
  for (int i = 1; i <= 30; ++i) {
    Fault fault;
    fault.kind = i == 17 ? FaultKind::sleep : FaultKind::kill_keeper;
    fault.at = i * 10min;
    fault.lasts = 5min;
    if (fault.kind != FaultKind::sleep) fault.whom = i % 2 == 0 ? "a-2" : "a";
    scenario.faults.push_back(fault);
  }
  return scenario;
}

bool has_fault(const Scenario& scenario, FaultKind kind) {
  return std::ranges::find(scenario.faults, kind, &Fault::kind) != scenario.faults.end();
}

const AgentPlan* agent_named(const Scenario& scenario, const std::string& name) {
  const auto found = std::ranges::find(scenario.agents, name, &AgentPlan::name);
  return found == scenario.agents.end() ? nullptr : &*found;
}

bool has_step(const Scenario& scenario, const std::string& agent, StepKind kind) {
  const AgentPlan* const plan = agent_named(scenario, agent);
  return plan != nullptr && std::ranges::find(plan->steps, kind, &Step::kind) != plan->steps.end();
}

TEST(Shrink, keeps_the_one_fault_and_the_one_step_that_are_needed) {
  const Scenario least = shrink(large_scenario(), [](const Scenario& scenario) {
    return has_fault(scenario, FaultKind::sleep) && has_step(scenario, "a-2", StepKind::hang_tool);
  });
  ASSERT_EQ(least.faults.size(), 1U);
  EXPECT_EQ(least.faults[0].kind, FaultKind::sleep);
  ASSERT_EQ(least.agents.size(), 2U);
  EXPECT_EQ(least.agents[0].steps, std::vector{step(StepKind::dispatch, "a-2")});
  EXPECT_EQ(least.agents[1].steps, std::vector{step(StepKind::hang_tool)});
}

TEST(Shrink, turns_the_machine_into_a_usual_one) {
  const Scenario least = shrink(large_scenario(), [](const Scenario&) { return true; });
  EXPECT_FALSE(least.lossy_hints);
  EXPECT_FALSE(least.groups);
  EXPECT_EQ(least.saving_takes, 0s);
  EXPECT_EQ(least.most_pid, 0);
  EXPECT_EQ(least.patrol, 0s);
  EXPECT_TRUE(least.outsiders.empty());
}

TEST(Shrink, keeps_the_one_outsider_that_is_needed) {
  const Scenario least = shrink(large_scenario(), [](const Scenario& scenario) {
    return std::ranges::find(scenario.outsiders, "guest2", &OutsiderPlan::name) !=
           scenario.outsiders.end();
  });
  ASSERT_EQ(least.outsiders.size(), 1U);
  EXPECT_EQ(least.outsiders[0].name, "guest2");
}

TEST(Shrink, keeps_the_one_message_that_is_needed_and_its_sender) {
  const Scenario least = shrink(large_scenario(), [](const Scenario& scenario) {
    return std::ranges::any_of(scenario.messages, [](const MessagePlan& message) {
      return message.from == "bob" && message.at == 3min;
    });
  });
  ASSERT_EQ(least.messages.size(), 1U);
  ASSERT_EQ(least.senders.size(), 1U);
  EXPECT_EQ(least.senders[0].name, "bob");
}

TEST(Shrink, leaves_one_agent_and_the_time_to_settle) {
  const Scenario least = shrink(large_scenario(), [](const Scenario&) { return true; });
  EXPECT_EQ(least.agents.size(), 1U);
  EXPECT_TRUE(least.agents[0].steps.empty());
  EXPECT_TRUE(least.faults.empty());
  EXPECT_LT(least.lasts, 20min);
  EXPECT_EQ(least.settles, 4h);
}

TEST(Shrink, ends_faults_before_the_shorter_world_settles) {
  const Scenario least = shrink(
      large_scenario(), [](const Scenario& scenario) { return scenario.faults.size() >= 3; });
  ASSERT_EQ(least.faults.size(), 3U);
  for (const Fault& fault : least.faults) EXPECT_LE(fault.at + fault.lasts, least.lasts);
}

TEST(Shrink, lets_trouble_come_as_often_as_is_needed) {
  const Scenario least = shrink(large_scenario(), [](const Scenario& scenario) {
    const AgentPlan* const agent = agent_named(scenario, "a-1");
    return agent != nullptr && std::ranges::any_of(agent->steps, [](const Step& each) {
             return each.kind == StepKind::crash && each.times >= 2;
           });
  });
  ASSERT_NE(agent_named(least, "a-1"), nullptr);
  EXPECT_EQ(agent_named(least, "a-1")->steps, std::vector{step(StepKind::crash, "", 3)});
}

TEST(Shrink, lets_time_that_has_to_pass_pass_in_one_step) {
  const Scenario least = shrink(large_scenario(), [](const Scenario& scenario) {
    const AgentPlan* const agent = agent_named(scenario, "a");
    Duration work{};
    for (const Step& each : agent == nullptr ? std::vector<Step>{} : agent->steps) {
      if (each.kind == StepKind::talk) work += each.takes;
    }
    return work >= 15min;
  });
  ASSERT_EQ(least.agents.size(), 1U);
  ASSERT_EQ(least.agents[0].steps.size(), 1U);
  EXPECT_EQ(least.agents[0].steps[0].takes, 15min);
}

TEST(Shrink, what_is_left_can_be_written_and_read) {
  const Scenario least = shrink(large_scenario(), [](const Scenario& scenario) {
    return agent_named(scenario, "a-1-1") != nullptr;
  });
  const auto read = parse_scenario(format_scenario(least));
  ASSERT_TRUE(read.has_value()) << read.error().text;
  EXPECT_EQ(*read, least);
}

TEST(Shrink, makes_no_scenario_that_could_not_be_read) {
  Scenario scenario = large_scenario();
  for (const char* const name : {"cat", "dan"}) {
    scenario.contenders.push_back({.name = name, .ends = 7h, .ttl = 5s, .works = 2h});
  }
  const Scenario least =
      shrink(scenario, [](const Scenario& smaller) { return smaller.contenders.size() == 2; });
  ASSERT_LT(least.lasts, 20min);
  EXPECT_EQ(parse_scenario(format_scenario(least)), least);
}

TEST(Shrink, plays_no_more_often_than_it_may_and_keeps_what_it_has) {
  std::size_t plays = 0;
  std::string last;
  const Scenario least =
      shrink(large_scenario(),
             [&](const Scenario& scenario) {
               ++plays;
               return has_fault(scenario, FaultKind::sleep);
             },
             {.most_plays = 12, .progress = [&](const std::string& line) { last = line; }});
  EXPECT_EQ(plays, 12U);
  EXPECT_EQ(last, "stopped after 12 plays: --plays gives it more");
  EXPECT_TRUE(has_fault(least, FaultKind::sleep));
  EXPECT_LT(least.faults.size(), large_scenario().faults.size());
}

TEST(Shrink, says_what_became_smaller) {
  std::vector<std::string> lines;
  shrink(large_scenario(), [](const Scenario&) { return true; },
         {.progress = [&](const std::string& line) { lines.push_back(line); }});
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.front(), "play 1: a simpler machine: 4 agents, 87 steps, 30 faults, 8.0 h");
  EXPECT_EQ(lines.back(), "nothing smaller fails");
}

}  // namespace
}  // namespace tend::sim
