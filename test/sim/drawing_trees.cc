// Draws the agents of a scenario: their trees, what each of them does, how they start their
// children and bring the work of these home, and what goes wrong with them by themselves.
#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "drawing.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t kDeepest = 4;
constexpr Duration kBetweenSteps = 3s;  // on the average, whatever the step

struct Tail {
  std::uint32_t per_mille;
  Duration most;
};
constexpr Tail kThinking[] = {{968, 5min}, {30, 11min}, {2, 20min}};
constexpr Tail kTool[] = {{797, 2min}, {180, 9min}, {20, 14min}, {3, 40min}};

Duration draw_tail(Chance& chance, Duration low, std::span<const Tail> tails) {
  std::uint64_t at = chance.below(1000);
  for (const Tail& tail : tails) {
    if (at < tail.per_mille) return chance.between(low, tail.most);
    at -= tail.per_mille;
  }
  return low;
}

Duration draw_takes(Chance& chance, StepKind kind) {
  switch (kind) {
    case StepKind::think:
      return draw_tail(chance, 5s, kThinking);
    case StepKind::talk:
      return chance.between(1min, 30min);
    case StepKind::tool:
      return draw_tail(chance, 1s, kTool);
    case StepKind::subagent:
      return chance.between(2min, 40min);
    case StepKind::background:
      return chance.between(1min, 9min);
    case StepKind::compact:
      return chance.between(20s, 300s);
    case StepKind::rate_limit:
      return chance.mostly_short(5min, 5h);
    case StepKind::overload:
      return chance.between(2min, 20min);
    case StepKind::ask:
      return chance.mostly_short(1min, 10h);
    case StepKind::helper:
      return chance.mostly_short(1min, 3h);
    default:
      return 0s;
  }
}

/// How long a step keeps an agent busy.
Duration busy(const Step& step) {
  const bool brief = step.kind == StepKind::helper || step.kind == StepKind::write ||
                     step.kind == StepKind::dispatch || step.kind == StepKind::merge;
  return kBetweenSteps + (brief ? Duration{10s} : step.takes);
}

}  // namespace

// --- Trees ---------------------------------------------------------------------------------------

void Drawing::draw_trees() {
  const std::size_t count = drawn_count();
  const std::size_t many = chance_.percent(60) ? 1 : chance_.within(2, 3);
  const std::size_t trees = may_dispatch() ? std::min(count, many) : count;
  for (std::size_t i = 0; i < trees; ++i) {
    const bool needed = i == 0 && count > trees;
    add_root(draw_manner(needed));
  }
  while (scenario_.agents.size() < count) {
    const std::size_t parent = draw_parent();
    const bool own_worktree = chance_.percent(50);
    add_child(parent, draw_manner(false), own_worktree);
  }
}

void Drawing::draw_plain_tree() {
  const std::size_t count = drawn_count();
  const Manner manner = may_dispatch() ? Manner{Voice::claude, "agent"} : draw_manner(false);
  add_root(manner);
  while (scenario_.agents.size() < count) {
    may_dispatch() ? add_child(0, manner, false) : add_root(manner);
  }
}

bool Drawing::may_dispatch() const { return wishes_.policy.empty() || wishes_.policy == "agent"; }

Drawing::Manner Drawing::draw_manner(bool dispatches) {
  if (wishes_.policy == "plain") return {Voice::lines, "plain"};
  if (!may_dispatch()) return {Voice::beats, wishes_.policy};
  const bool other = wishes_.policy.empty() && !dispatches && chance_.percent(15);
  if (!other) return {chance_.percent(80) ? Voice::claude : Voice::codex, "agent"};
  if (chance_.percent(30)) return {Voice::lines, "plain"};
  constexpr std::string_view kBeating[] = {"worker", "critical", "overnight"};
  return {Voice::beats, std::string(chance_.one_of<std::string_view>(kBeating))};
}

std::size_t Drawing::draw_parent() {
  std::vector<std::size_t> fit;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (speaks(plan(i).voice) && places_[i].depth < kDeepest) fit.push_back(i);
  }
  return chance_.one_of<std::size_t>(fit);
}

AgentPlan& Drawing::add_agent(const Manner& manner) {
  AgentPlan& fresh = scenario_.agents.emplace_back();
  fresh.voice = manner.first;
  fresh.policy = manner.second;
  return fresh;
}

void Drawing::add_root(const Manner& manner) {
  add_agent(manner).name = fmt::format("lead{}", ++roots_);
  places_.emplace_back();
}

void Drawing::add_child(std::size_t parent, const Manner& manner, bool own_worktree) {
  AgentPlan& child = add_agent(manner);
  Place& above = places_[parent];
  above.children.push_back(scenario_.agents.size() - 1);
  child.parent = plan(parent).name;
  child.name = fmt::format("{}-{}", child.parent, above.children.size());
  child.own_worktree = own_worktree;
  places_.push_back({.depth = above.depth + 1, .begins = {}, .children = {}});
}

// --- Work ----------------------------------------------------------------------------------------

bool Drawing::can(const AgentPlan& plan, StepKind kind) const {
  if (kind == StepKind::write) return plan.parent.empty() || plan.own_worktree;
  if (kind == StepKind::helper) return true;
  if (!speaks(plan.voice)) return kind == StepKind::talk;
  return kind != StepKind::ask || plan.voice == Voice::claude;
}

StepKind Drawing::draw_work_of(const AgentPlan& plan) {
  std::uint32_t sum = 0;
  for (const Weight& work : work_) sum += can(plan, work.kind) ? work.weight : 0;
  std::uint64_t at = chance_.below(sum);
  for (const Weight& work : work_) {
    if (!can(plan, work.kind)) continue;
    if (at < work.weight) return work.kind;
    at -= work.weight;
  }
  return StepKind::talk;
}

void Drawing::draw_work(std::size_t i, Duration fills) {
  AgentPlan& agent = plan(i);
  Duration filled{};
  while (filled < fills) {
    const StepKind kind = draw_work_of(agent);
    agent.steps.push_back({.kind = kind, .takes = draw_takes(chance_, kind), .child = {}});
    filled += busy(agent.steps.back());
  }
}

/// Nothing in it comes near to any limit.
void Drawing::draw_plain_work(std::size_t i, Duration fills) {
  constexpr Tail kPlainWork[] = {{1000, 10min}};
  constexpr StepKind kKinds[] = {StepKind::think, StepKind::tool};
  AgentPlan& agent = plan(i);
  Duration filled{};
  while (filled < fills) {
    const StepKind kind = chance_.one_of<StepKind>(kKinds);
    agent.steps.push_back({.kind = kind, .takes = draw_tail(chance_, 1s, kPlainWork), .child = {}});
    filled += busy(agent.steps.back());
  }
}

// --- Children ------------------------------------------------------------------------------------

/// Within the first so many percent of its work an agent starts its children, then it awaits
/// them and brings their work home, now and then before it has done its own.
void Drawing::add_children(std::size_t i, std::uint64_t within_percent) {
  if (places_[i].children.empty()) return;
  std::vector<Step>& steps = plan(i).steps;
  const std::size_t own = steps.size();
  std::vector<std::size_t> at;
  at.reserve(places_[i].children.size());
  for (std::size_t n = 0; n < places_[i].children.size(); ++n) {
    at.push_back(chance_.below(own * within_percent / 100 + 1));
  }
  std::ranges::sort(at);
  for (std::size_t n = 0; n < at.size(); ++n) {
    const std::string& child = plan(places_[i].children[n]).name;
    steps.insert(position(steps, at[n] + n), {.kind = StepKind::dispatch, .child = child});
  }
  note_begins(i);
  const std::size_t first = at.back() + at.size();
  const bool early = within_percent > 0 && chance_.percent(30);
  const std::size_t awaits = early ? chance_.within(first, steps.size()) : steps.size();
  steps.insert(position(steps, awaits), {.kind = StepKind::await, .child = {}});
  add_merges(i, awaits + 1);
}

void Drawing::add_merges(std::size_t i, std::size_t after) {
  std::vector<Step>& steps = plan(i).steps;
  for (const std::size_t child : places_[i].children) {
    if (!plan(child).own_worktree || !chance_.percent(60)) continue;
    const Step merge{.kind = StepKind::merge, .child = plan(child).name};
    steps.insert(position(steps, chance_.within(after, steps.size())), merge);
  }
}

/// When each child begins at the earliest.
void Drawing::note_begins(std::size_t i) {
  Duration now = places_[i].begins;
  for (const Step& step : plan(i).steps) {
    now += busy(step);
    if (step.kind != StepKind::dispatch) continue;
    const auto child = std::ranges::find(scenario_.agents, step.child, &AgentPlan::name);
    places_[static_cast<std::size_t>(child - scenario_.agents.begin())].begins = now;
  }
}

bool Drawing::has_children(const AgentPlan& agent) const {
  return std::ranges::find(scenario_.agents, agent.name, &AgentPlan::parent) !=
         scenario_.agents.end();
}

std::vector<Step>::iterator Drawing::position(std::vector<Step>& steps, std::size_t at) {
  return steps.begin() + static_cast<std::ptrdiff_t>(at);
}

void Drawing::insert_anywhere(AgentPlan& agent, Step step, Chance& chance) {
  const std::size_t at = chance.within(0, agent.steps.size());
  agent.steps.insert(position(agent.steps, at), std::move(step));
}

// --- Trouble -------------------------------------------------------------------------------------

void Drawing::add_trouble(std::size_t i) {
  AgentPlan& agent = plan(i);
  std::vector<StepKind> fit;
  for (const StepKind kind : troubles_) {
    if (agent.voice != Voice::lines || !is_hang(kind)) fit.push_back(kind);
  }
  if (fit.empty() || !chance_.percent(troubled_percent_)) return;
  const int many = chance_.percent(25) ? 2 : 1;
  for (int n = 0; n < many; ++n) {
    const StepKind kind = chance_.one_of<StepKind>(fit);
    const Step trouble{.kind = kind,
                       .takes = is_hang(kind) ? Duration{} : chance_.mostly_short(0s, 2min),
                       .times = chance_.percent(85) ? 1U : draw_times(),
                       .child = {}};
    // Only a life that begins with it can have it.
    const bool first = kind == StepKind::hang_start;
    const std::size_t at = first ? 0 : chance_.within(0, agent.steps.size());
    agent.steps.insert(position(agent.steps, at), trouble);
  }
}

std::uint32_t Drawing::draw_times() {
  return static_cast<std::uint32_t>(chance_.percent(80) ? chance_.within(2, 4)
                                                        : chance_.within(5, 12));
}

bool Drawing::has_trouble() const {
  return std::ranges::any_of(scenario_.agents, [](const AgentPlan& agent) {
    return std::ranges::any_of(agent.steps, [](const Step& step) { return is_trouble(step.kind); });
  });
}

}  // namespace tend::sim
