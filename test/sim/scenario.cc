// Scenarios drawn from a seed, swarm style: every world has its own few kinds of trouble and of
// faults, so that those which are rare together meet, and those which hide each other do not.
#include "scenario.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostAgents = 12;
constexpr std::size_t kMostTrees = 3;
constexpr std::uint32_t kDeepest = 4;
constexpr Duration kBetweenSteps = 3s;  // on the average, whatever the step
constexpr Duration kSettles = 4h;
constexpr Duration kFirstFault = 2min;
constexpr std::uint64_t kPatrolled = 45;    // of a hundred worlds with tasks
constexpr std::uint64_t kGated = 12;        // of a hundred worlds, unless it is wished for
constexpr std::uint64_t kContended = 8;     // the same
constexpr std::uint64_t kServed = 8;        // the same
constexpr std::uint64_t kShareTrouble = 5;  // percent of worlds, with their database
constexpr std::uint64_t kRefused = 20;      // percent of worlds
constexpr std::uint64_t kOtherVoices = 20;  // the same
constexpr Duration kShortRest = 90s;        // of a patrol that soon finds itself late
constexpr Duration kNoEnd = 7 * 24h;        // of silence: longer than any world

/// Splitmix64: all that a scenario comes from. One draw to a statement, or compilers differ in
/// which they do first and a seed is another world with each.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed) {}

  std::uint64_t number() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  std::uint64_t below(std::uint64_t bound) { return bound == 0 ? 0 : number() % bound; }
  std::uint64_t within(std::uint64_t low, std::uint64_t high) {
    return low + below(high - low + 1);
  }
  bool percent(std::uint64_t of_hundred) { return below(100) < of_hundred; }
  Duration between(Duration low, Duration high) {
    if (high <= low) return low;
    return low + Duration{static_cast<Duration::rep>(
                     below(static_cast<std::uint64_t>((high - low).count()) + 1))};
  }
  Duration mostly_short(Duration low, Duration high) { return between(low, between(low, high)); }
  std::uint64_t mostly_small(std::uint64_t low, std::uint64_t high) {
    return within(low, within(low, high));
  }
  Duration share(Duration whole, std::uint64_t least_percent, std::uint64_t most_percent) {
    return whole * static_cast<Duration::rep>(within(least_percent, most_percent)) / 100;
  }
  template <class T>
  const T& one_of(std::span<const T> all) {
    return all[below(all.size())];
  }

 private:
  std::uint64_t state_;
};

// --- Work ----------------------------------------------------------------------------------------

struct Weight {
  StepKind kind;
  std::uint32_t weight;
  bool everywhere;  // else in every second world
};
constexpr Weight kWork[] = {
    {StepKind::think, 300, true},      {StepKind::talk, 100, true},
    {StepKind::tool, 350, true},       {StepKind::subagent, 50, false},
    {StepKind::background, 40, false}, {StepKind::compact, 25, false},
    {StepKind::rate_limit, 4, false},  {StepKind::overload, 10, false},
    {StepKind::ask, 4, false},         {StepKind::write, 120, true},
    {StepKind::helper, 8, false},
};

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

// --- Faults --------------------------------------------------------------------------------------

struct FaultRow {
  FaultKind kind;
  bool of_agent;       // it strikes one
  bool counts_calls;   // its number is that of a call
  std::uint32_t most;  // in one world
  Duration shortest;
  Duration longest;
};
constexpr FaultRow kFaults[] = {
    {FaultKind::kill_keeper, true, false, 8, 0s, 0s},
    {FaultKind::kill_agent, true, false, 8, 0s, 0s},
    {FaultKind::kill_both, true, false, 8, 0s, 0s},
    {FaultKind::kill_all, false, false, 4, 0s, 0s},
    {FaultKind::keeper_at_call, true, true, 8, 0s, 0s},
    {FaultKind::torn_at_call, true, true, 8, 0s, 0s},
    {FaultKind::command_at_call, false, true, 8, 0s, 0s},
    {FaultKind::pause_keeper, true, false, 8, 5s, 30min},
    {FaultKind::pause_agent, true, false, 8, 10s, 20min},
    {FaultKind::sleep, false, false, 4, 1min, 8h},
    {FaultKind::clock_step, false, false, 8, 2s, 2h},
    {FaultKind::slow_disk, false, false, 8, 30s, 30min},
    {FaultKind::full_disk, false, false, 8, 30s, 30min},
    {FaultKind::unreadable, true, false, 8, 30s, 30min},
    {FaultKind::blind, false, false, 8, 30s, 30min},
    {FaultKind::no_forks, false, false, 8, 30s, 30min},
    {FaultKind::lost_hints, false, false, 8, 30s, 30min},
    {FaultKind::two_keepers, true, false, 8, 0s, 0s},
    {FaultKind::reload, true, false, 8, 0s, 0s},
    {FaultKind::shutdown, false, false, 2, 0s, 0s},
    {FaultKind::power_cut, false, false, 2, 0s, 0s},
    {FaultKind::torn_power_cut, false, false, 2, 0s, 0s},
    {FaultKind::lying_disk, false, false, 2, 30s, 30min},
    {FaultKind::reuse_pid, true, false, 8, 0s, 0s},
    {FaultKind::newer_version, true, false, 4, 0s, 0s},
    {FaultKind::stop_order, true, false, 2, 0s, 0s},
    {FaultKind::stop_tree_order, true, false, 2, 0s, 0s},
    {FaultKind::pause_order, true, false, 8, 1min, 1h},
    {FaultKind::restart_keepers, false, false, 8, 0s, 0s},
    {FaultKind::keeper_in_act, true, true, 8, 0s, 0s},
    {FaultKind::kill_patrol, false, false, 8, 0s, 0s},
    {FaultKind::patrol_at_call, false, true, 8, 0s, 0s},
    {FaultKind::pause_patrol, false, false, 8, 5s, 30min},
    {FaultKind::two_patrols, false, false, 8, 0s, 0s},
    {FaultKind::sleep_in_act, true, false, 8, 1min, 8h},
    {FaultKind::sleep_unwatched, false, false, 2, 1min, 8h},
    {FaultKind::half_a_merge, false, false, 4, 0s, 0s},
    {FaultKind::cut_after_dispatch, false, false, 2, 0s, 0s},
    {FaultKind::hurried_lead, true, false, 4, 0s, 0s},
    {FaultKind::deaf_keeper, true, false, 4, 14min, 24min},
    {FaultKind::unwritten_sleep, false, false, 2, 1min, 8h},
    {FaultKind::wake_in_act, false, false, 8, 0s, 0s},
    {FaultKind::blind_in_act, true, false, 4, 4min, 20min},
    {FaultKind::pause_suspect, false, false, 8, 0s, 0s},
    {FaultKind::set_in_hold, false, false, 4, 2min, 2h},
    {FaultKind::patrol_first, false, false, 1, 0s, 0s},
    {FaultKind::slow_saving, false, false, 1, 0s, 0s},
    {FaultKind::cut_after_telling, false, false, 2, 0s, 0s},
    {FaultKind::sender_at_call, false, true, 8, 0s, 0s},
    {FaultKind::cut_after_receive, false, false, 2, 0s, 0s},
    {FaultKind::cut_at_clear, false, false, 2, 0s, 0s},
    {FaultKind::keeper_at_clear, false, true, 8, 0s, 0s},
    {FaultKind::kill_in_hand, false, false, 8, 0s, 0s},
    {FaultKind::keeper_at_message, false, true, 8, 0s, 0s},
    {FaultKind::kill_contender, false, false, 12, 0s, 0s},
    {FaultKind::contender_at_call, false, true, 12, 0s, 0s},
    {FaultKind::pause_contender, false, false, 12, 1s, 30min},
    {FaultKind::cut_after_grant, false, false, 2, 0s, 0s},
    {FaultKind::stop_in_write, false, false, 12, 1s, 3min},
    {FaultKind::unseen_leader, false, false, 8, 5s, 5min},
    {FaultKind::sleep_in_lead, false, false, 4, 1min, 8h},
    {FaultKind::kill_service, false, false, 12, 0s, 0s},
    {FaultKind::service_at_call, false, true, 12, 0s, 0s},
    {FaultKind::pause_service, false, false, 12, 1s, 30min},
    {FaultKind::two_services, false, false, 8, 0s, 0s},
    {FaultKind::busy_database, false, false, 4, 1s, 10min},
    {FaultKind::unreadable_database, false, false, 4, 30s, 30min},
};
static_assert(std::size(kFaults) == kFaultWords.size());
static_assert(
    [] {
      for (std::size_t i = 0; i < std::size(kFaults); ++i) {
        if (static_cast<std::size_t>(kFaults[i].kind) != i) return false;
      }
      return true;
    }(),
    "kFaults: a row is missing, doubled or out of order");

// --- Drawing -------------------------------------------------------------------------------------

class Drawing {
 public:
  Drawing(std::uint64_t seed, const Wishes& wishes) : chance_(seed), wishes_(wishes) {
    scenario_.seed = seed;
    scenario_.lasts = wishes.hours;
  }

  Scenario plain() {
    draw_plain_tree();
    for (std::size_t i = 0; i < places_.size(); ++i) {
      draw_plain_work(i, chance_.share(left_for(i), 30, 80));
      add_children(i, 0);
    }
    return std::move(scenario_);
  }

  Scenario anything() {
    draw_world();
    draw_trees();
    for (std::size_t i = 0; i < places_.size(); ++i) {
      draw_work(i, chance_.share(left_for(i), 30, 100));
      add_children(i, 66);
      add_trouble(i);
    }
    draw_faults();
    draw_tasks();
    draw_patrol();
    draw_awakenings();
    draw_meetings();
    draw_moments();
    draw_rare_moments();
    draw_gate();
    draw_lease();
    draw_rare_lease();
    draw_services();
    draw_voices();
    draw_refusals();
    draw_database();
    const bool has_guests =
        !scenario_.messages.empty() || !scenario_.contenders.empty() || !scenario_.services.empty();
    if (!scenario_.faults.empty() || has_trouble() || has_guests) scenario_.settles = kSettles;
    return std::move(scenario_);
  }

 private:
  /// What a plan does not say of an agent's place.
  struct Place {
    std::uint32_t depth = 1;
    Duration begins{};
    std::vector<std::size_t> children;
  };

  AgentPlan& plan(std::size_t i) { return scenario_.agents[i]; }
  [[nodiscard]] Duration left_for(std::size_t i) const {
    return std::max(scenario_.lasts - places_[i].begins, scenario_.lasts / 10);
  }
  std::size_t drawn_count() {
    return wishes_.agents > 0 ? wishes_.agents : chance_.within(1, kMostAgents);
  }

  // --- The machine ---

  void draw_world() {
    scenario_.lossy_hints = chance_.percent(20);
    scenario_.groups = chance_.percent(40);
    scenario_.saving_takes = chance_.mostly_short(0s, 20s);
    if (chance_.percent(10)) {
      scenario_.most_pid = std::max(static_cast<std::int64_t>(chance_.within(2000, 3000)),
                                    fewest_pids(wishes_.agents));
    }
    for (const Weight& work : kWork) {
      if (work.everywhere || chance_.percent(50)) work_.push_back(work);
    }
    if (chance_.percent(35)) return;
    const std::uint64_t in_this_world = chance_.within(10, 70);
    for (std::size_t i = 0; i < kStepWords.size(); ++i) {
      const auto kind = static_cast<StepKind>(i);
      if (!is_trouble(kind) || is_refusal(kind)) continue;  // those are drawn apart
      if (kind == StepKind::hang_idle) continue;            // only who is asked has that
      if (chance_.percent(in_this_world)) troubles_.push_back(kind);
    }
    troubled_percent_ = chance_.within(5, 50);
  }

  // --- Trees ---

  void draw_trees() {
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
  void draw_plain_tree() {
    const std::size_t count = drawn_count();
    const Manner manner = may_dispatch() ? Manner{Voice::claude, "agent"} : draw_manner(false);
    add_root(manner);
    while (scenario_.agents.size() < count) {
      may_dispatch() ? add_child(0, manner, false) : add_root(manner);
    }
  }
  [[nodiscard]] bool may_dispatch() const {
    return wishes_.policy.empty() || wishes_.policy == "agent";
  }

  using Manner = std::pair<Voice, std::string>;
  Manner draw_manner(bool dispatches) {
    if (wishes_.policy == "plain") return {Voice::lines, "plain"};
    if (!may_dispatch()) return {Voice::beats, wishes_.policy};
    const bool other = wishes_.policy.empty() && !dispatches && chance_.percent(15);
    if (!other) return {chance_.percent(80) ? Voice::claude : Voice::codex, "agent"};
    if (chance_.percent(30)) return {Voice::lines, "plain"};
    constexpr std::string_view kBeating[] = {"worker", "critical", "overnight"};
    return {Voice::beats, std::string(chance_.one_of<std::string_view>(kBeating))};
  }
  std::size_t draw_parent() {
    std::vector<std::size_t> fit;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (speaks(plan(i).voice) && places_[i].depth < kDeepest) fit.push_back(i);
    }
    return chance_.one_of<std::size_t>(fit);
  }

  AgentPlan& add_agent(const Manner& manner) {
    AgentPlan& fresh = scenario_.agents.emplace_back();
    fresh.voice = manner.first;
    fresh.policy = manner.second;
    return fresh;
  }
  void add_root(const Manner& manner) {
    add_agent(manner).name = fmt::format("lead{}", ++roots_);
    places_.emplace_back();
  }
  void add_child(std::size_t parent, const Manner& manner, bool own_worktree) {
    AgentPlan& child = add_agent(manner);
    Place& above = places_[parent];
    above.children.push_back(scenario_.agents.size() - 1);
    child.parent = plan(parent).name;
    child.name = fmt::format("{}-{}", child.parent, above.children.size());
    child.own_worktree = own_worktree;
    places_.push_back({.depth = above.depth + 1, .begins = {}, .children = {}});
  }

  // --- Work ---

  [[nodiscard]] bool can(const AgentPlan& plan, StepKind kind) const {
    if (kind == StepKind::write) return plan.parent.empty() || plan.own_worktree;
    if (kind == StepKind::helper) return true;
    if (!speaks(plan.voice)) return kind == StepKind::talk;
    return kind != StepKind::ask || plan.voice == Voice::claude;
  }
  StepKind draw_work_of(const AgentPlan& plan) {
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
  void draw_work(std::size_t i, Duration fills) {
    AgentPlan& agent = plan(i);
    Duration filled{};
    while (filled < fills) {
      const StepKind kind = draw_work_of(agent);
      agent.steps.push_back({.kind = kind, .takes = draw_takes(chance_, kind), .child = {}});
      filled += busy(agent.steps.back());
    }
  }
  /// Nothing in it comes near to any limit.
  void draw_plain_work(std::size_t i, Duration fills) {
    constexpr Tail kPlainWork[] = {{1000, 10min}};
    constexpr StepKind kKinds[] = {StepKind::think, StepKind::tool};
    AgentPlan& agent = plan(i);
    Duration filled{};
    while (filled < fills) {
      const StepKind kind = chance_.one_of<StepKind>(kKinds);
      agent.steps.push_back(
          {.kind = kind, .takes = draw_tail(chance_, 1s, kPlainWork), .child = {}});
      filled += busy(agent.steps.back());
    }
  }

  // --- Children ---

  /// Within the first so many percent of its work an agent starts its children, then it awaits
  /// them and brings their work home, now and then before it has done its own.
  void add_children(std::size_t i, std::uint64_t within_percent) {
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
  void add_merges(std::size_t i, std::size_t after) {
    std::vector<Step>& steps = plan(i).steps;
    for (const std::size_t child : places_[i].children) {
      if (!plan(child).own_worktree || !chance_.percent(60)) continue;
      const Step merge{.kind = StepKind::merge, .child = plan(child).name};
      steps.insert(position(steps, chance_.within(after, steps.size())), merge);
    }
  }
  /// When each child begins at the earliest.
  void note_begins(std::size_t i) {
    Duration now = places_[i].begins;
    for (const Step& step : plan(i).steps) {
      now += busy(step);
      if (step.kind != StepKind::dispatch) continue;
      const auto child = std::ranges::find(scenario_.agents, step.child, &AgentPlan::name);
      places_[static_cast<std::size_t>(child - scenario_.agents.begin())].begins = now;
    }
  }
  static std::vector<Step>::iterator position(std::vector<Step>& steps, std::size_t at) {
    return steps.begin() + static_cast<std::ptrdiff_t>(at);
  }

  // --- Trouble ---

  void add_trouble(std::size_t i) {
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
  std::uint32_t draw_times() {
    return static_cast<std::uint32_t>(chance_.percent(80) ? chance_.within(2, 4)
                                                          : chance_.within(5, 12));
  }
  [[nodiscard]] bool has_trouble() const {
    return std::ranges::any_of(scenario_.agents, [](const AgentPlan& agent) {
      return std::ranges::any_of(agent.steps,
                                 [](const Step& step) { return is_trouble(step.kind); });
    });
  }

  // --- Faults ---

  void draw_faults() {
    for (const FaultRow& row : draw_fault_kinds()) {
      const std::uint64_t many = chance_.mostly_small(1, row.most);
      for (std::uint64_t n = 0; n < many; ++n) scenario_.faults.push_back(draw_fault(row, chance_));
    }
    sort_faults();
  }
  void sort_faults() {
    std::ranges::sort(scenario_.faults, {}, [](const Fault& fault) {
      return std::tuple(fault.at, fault.kind, fault.whom, fault.lasts, fault.number);
    });
  }
  [[nodiscard]] bool is_wished(FaultKind kind) const {
    return wishes_.all_faults || std::ranges::find(wishes_.faults, kind) != wishes_.faults.end();
  }
  /// Who wishes for certain kinds wants to see at least one of them.
  std::vector<FaultRow> draw_fault_kinds() {
    std::vector<FaultRow> possible;
    for (const FaultRow& row : kFaults) {
      const bool is_of_any_time = row.kind < FaultKind::sender_at_call && !is_of_patrol(row.kind) &&
                                  !is_of_a_moment(row.kind);
      if (is_of_any_time && is_wished(row.kind)) possible.push_back(row);
    }
    if (possible.empty()) return {};
    const std::uint64_t sort_of_world = chance_.below(4);
    if (sort_of_world == 0 && wishes_.all_faults) return {};
    if (sort_of_world <= 1) return {chance_.one_of<FaultRow>(possible)};
    const std::uint64_t in_this_world = chance_.within(5, 50);
    std::vector<FaultRow> kinds;
    for (const FaultRow& row : possible) {
      if (chance_.percent(in_this_world)) kinds.push_back(row);
    }
    if (kinds.empty()) kinds.push_back(chance_.one_of<FaultRow>(possible));
    return kinds;
  }
  /// It is over before the world settles.
  Fault draw_fault(const FaultRow& row, Chance& chance) {
    const Duration latest = scenario_.lasts - scenario_.lasts / 20;
    Fault fault;
    fault.kind = row.kind;
    fault.at = chance.between(std::min(kFirstFault, latest), latest);
    fault.lasts = std::min(chance.mostly_short(row.shortest, row.longest),
                           std::max(scenario_.lasts - fault.at, row.shortest));
    if (row.of_agent) fault.whom = chance.one_of<AgentPlan>(scenario_.agents).name;
    fault.number = row.counts_calls ? chance.mostly_small(1, 120) : chance.number();
    return fault;
  }

  /// From chance of its own: a world is the same with tasks and without, but for them.
  void draw_tasks() {
    Chance chance(~scenario_.seed);
    const std::uint64_t in_this_world = chance.percent(50) ? 0 : chance.within(20, 100);
    for (AgentPlan& agent : scenario_.agents) agent.task = chance.percent(in_this_world);
  }

  /// Some hangs end by themselves, in the seconds in which their work is being saved.
  void draw_awakenings() {
    Chance chance(scenario_.seed ^ 0x5eedU);
    if (scenario_.saving_takes == Duration::zero() || chance.percent(60)) return;
    for (AgentPlan& agent : scenario_.agents) {
      for (Step& step : agent.steps) {
        if (step.kind != StepKind::hang_stream || !speaks(agent.voice)) continue;
        if (chance.percent(50)) continue;
        step.takes = chance.between(1s, scenario_.saving_takes + 1s);
      }
    }
  }

  /// In some worlds misfortunes do not come alone.
  void draw_meetings() {
    constexpr Duration kTogether = 90s;
    Chance chance(scenario_.seed ^ 0x3337U);
    if (scenario_.faults.size() < 2 || chance.percent(70)) return;
    const std::vector<Fault> where = scenario_.faults;
    for (Fault& fault : scenario_.faults) {
      if (chance.percent(30)) continue;
      const Duration latest = scenario_.lasts - scenario_.lasts / 20;
      const Duration after = chance.between(0s, kTogether);
      const Duration near = chance.one_of<Fault>(where).at + after;
      fault.at = std::min(near, latest);
      fault.lasts = std::min(fault.lasts, scenario_.lasts - fault.at);
    }
    sort_faults();
  }

  /// Each kind of them that is wished for, with this chance.
  void draw_kinds(bool (*is_one)(FaultKind), std::uint64_t percent, Chance& chance) {
    for (const FaultRow& row : kFaults) {
      const bool here = is_one(row.kind) && is_wished(row.kind) && chance.percent(percent);
      const std::uint64_t many = here ? chance.mostly_small(1, row.most) : 0;
      for (std::uint64_t n = 0; n < many; ++n) {
        scenario_.faults.push_back(draw_fault(row, chance));
      }
    }
    sort_faults();
  }

  /// From chance of its own: a world without them is the same as ever.
  void draw_moments() {
    Chance chance(scenario_.seed ^ 0x6d6f'6d65'6e74ULL);
    const auto is_of_ours = [](FaultKind kind) {
      return is_of_a_moment(kind) && !is_of_a_rare_moment(kind);
    };
    const bool wished = std::ranges::any_of(wishes_.faults, is_of_ours);
    if (!wished && (scenario_.faults.empty() || chance.percent(75))) return;
    draw_kinds(is_of_ours, wished ? 100 : 50, chance);
  }
  /// The same, so that a world without these is the same as ever, too.
  void draw_rare_moments() {
    Chance chance(scenario_.seed ^ 0x7261'7265ULL);
    const bool wished = std::ranges::any_of(wishes_.faults, is_of_a_rare_moment);
    if (!wished && (scenario_.faults.empty() || chance.percent(85))) return;
    draw_kinds(is_of_a_rare_moment, wished ? 100 : 30, chance);
    const bool slow = std::ranges::find(scenario_.faults, FaultKind::slow_saving, &Fault::kind) !=
                      scenario_.faults.end();
    if (slow) scenario_.patrol = std::min(scenario_.patrol, kShortRest);
  }

  // --- The patrol ---

  /// From chance of its own, too: a world without a patrol is the same as ever.
  void draw_patrol() {
    Chance chance(~scenario_.seed ^ 0x70617472'6f6cULL);
    const bool wished = std::ranges::any_of(wishes_.faults, wants_patrol);
    const bool has_tasks = std::ranges::any_of(scenario_.agents, &AgentPlan::task);
    if (!wished && !(has_tasks && chance.percent(kPatrolled))) return;
    scenario_.patrol = std::chrono::floor<std::chrono::seconds>(chance.between(1min, 10min));
    const std::uint64_t claiming = chance.percent(25) ? 0 : chance.within(20, 90);
    for (AgentPlan& agent : scenario_.agents) {
      agent.claims = speaks(agent.voice) && chance.percent(claiming);
    }
    draw_outsiders(chance);
    if (!wished && scenario_.faults.empty()) return;  // nothing goes wrong in this world
    draw_stops(chance);
    draw_kinds(is_of_patrol, wished ? 100 : 40, chance);
  }
  /// Of one that still holds a task of its own choice: only the patrol sets that free.
  void draw_stops(Chance& chance) {
    if (!is_wished(FaultKind::stop_order) || !chance.percent(60)) return;
    for (const AgentPlan& agent : scenario_.agents) {
      if (!agent.claims || !chance.percent(50)) continue;
      Fault stop = draw_fault(kFaults[static_cast<std::size_t>(FaultKind::stop_order)], chance);
      stop.whom = agent.name;
      scenario_.faults.push_back(std::move(stop));
    }
  }
  void draw_outsiders(Chance& chance) {
    using enum TaskContext;
    constexpr TaskContext kContexts[] = {active, active, overnight, critical};
    const std::uint64_t many = chance.percent(25) ? 0 : chance.mostly_small(1, 6);
    const bool together = chance.percent(40);  // they fall silent, as they would for one reason
    const Duration latest = scenario_.lasts - scenario_.lasts / 10;
    const Duration at = chance.between(1min, latest);
    for (std::uint64_t n = 0; n < many; ++n) {
      OutsiderPlan& outsider = scenario_.outsiders.emplace_back();
      outsider.name = fmt::format("guest{}", n + 1);
      outsider.context = chance.one_of<TaskContext>(kContexts);
      outsider.begins = together ? Duration::zero() : chance.mostly_short(0s, latest);
      outsider.silent_at =
          together ? at + chance.between(0s, 5min) : chance.between(outsider.begins, latest);
      const bool for_good = chance.percent(40);
      outsider.silent_for = for_good ? kNoEnd : chance.mostly_short(1min, 3h);
      outsider.answers = chance.percent(25);
    }
  }

  // --- The probe and the gate ---

  /// From chance of its own, too. Who is compared with others is not asked: they cannot ask.
  void draw_gate() {
    Chance chance(~scenario_.seed ^ 0x6761'7465ULL);
    const bool wished = std::ranges::any_of(wishes_.faults, is_of_gate);
    if (!wished && (!wishes_.policy.empty() || !chance.percent(kGated))) return;
    for (AgentPlan& agent : scenario_.agents) {
      const bool is_fit =
          agent.parent.empty() && agent.voice == Voice::claude && !has_children(agent);
      if (is_fit && chance.percent(75)) draw_probe(agent, chance);
    }
    if (asked_agents().empty()) draw_chat(chance);
    if (asked_agents().empty()) return;
    draw_senders(chance);
    draw_messages(chance);
    if (!wished && (scenario_.faults.empty() || has_one_kind_of_fault())) return;
    draw_kinds(is_of_gate, wished ? 100 : 30, chance);
  }
  /// Such a world shows what this kind does alone.
  [[nodiscard]] bool has_one_kind_of_fault() const {
    const auto differs = [](const Fault& one, const Fault& next) { return one.kind != next.kind; };
    return std::ranges::adjacent_find(scenario_.faults, differs) == scenario_.faults.end();
  }
  [[nodiscard]] bool has_children(const AgentPlan& agent) const {
    return std::ranges::find(scenario_.agents, agent.name, &AgentPlan::parent) !=
           scenario_.agents.end();
  }
  /// Somebody who is there for it, if there is room.
  void draw_chat(Chance& chance) {
    if (scenario_.agents.size() >= kMostAgents || roots_ >= kMostTrees) return;
    add_root({Voice::claude, std::string("agent")});
    AgentPlan& chat = scenario_.agents.back();
    const Duration talks = chance.between(1min, 30min);
    chat.steps.push_back({.kind = StepKind::talk, .takes = talks, .child = {}});
    draw_probe(chat, chance);
  }
  [[nodiscard]] std::vector<std::string> asked_agents() const {
    std::vector<std::string> names;
    for (const AgentPlan& agent : scenario_.agents) {
      if (agent.is_asked()) names.push_back(agent.name);
    }
    return names;
  }
  void draw_probe(AgentPlan& agent, Chance& chance) {
    using std::chrono::seconds;
    agent.task = false;
    agent.claims = false;
    agent.probe.interval = std::chrono::floor<seconds>(chance.between(1min, 10min));
    const Duration deadline = std::chrono::floor<seconds>(chance.between(2min, 20min));
    agent.probe.deadline = std::max(deadline, agent.probe.interval);  // less is refused
    agent.probe.deliver = chance.percent(65);
    agent.probe.mute = chance.percent(8);
    const Duration takes = chance.between(1min, 8min);
    if (!agent.probe.deliver) agent.probe.takes = std::chrono::floor<seconds>(takes);
    const std::uint64_t rests = chance.within(1, 6);
    for (std::uint64_t n = 0; n < rests; ++n) {
      const Duration rest = chance.mostly_short(1min, 90min);
      insert_anywhere(agent, {.kind = StepKind::rest, .takes = rest, .child = {}}, chance);
    }
    const std::uint64_t hangs = chance.percent(50) ? chance.within(1, 3) : 0;
    for (std::uint64_t n = 0; n < hangs; ++n) {
      const std::uint32_t times = chance.percent(85) ? 1 : 2;
      insert_anywhere(
          agent, {.kind = StepKind::hang_idle, .takes = {}, .times = times, .child = {}}, chance);
    }
  }
  static void insert_anywhere(AgentPlan& agent, Step step, Chance& chance) {
    const std::size_t at = chance.within(0, agent.steps.size());
    agent.steps.insert(position(agent.steps, at), std::move(step));
  }
  void draw_senders(Chance& chance) {
    using enum ReplyManner;
    constexpr ReplyManner kManners[] = {works, works, works, works, fails,
                                        fails, hangs, hangs, never, none};
    const std::vector<std::string> asked = asked_agents();
    const std::uint64_t many = chance.within(1, 4);
    for (std::uint64_t n = 0; n < many; ++n) {
      SenderPlan& sender = scenario_.senders.emplace_back();
      sender.name = fmt::format("sender{}", n + 1);
      sender.agent = chance.one_of<std::string>(asked);
      sender.reply = chance.one_of<ReplyManner>(kManners);
      const Duration works_from = chance.between(0s, scenario_.lasts);
      if (sender.reply == fails || sender.reply == hangs) sender.works_from = works_from;
    }
  }
  void draw_messages(Chance& chance) {
    using enum SendsWhen;
    constexpr SendsWhen kWhen[] = {at_once, at_once, down, down, answer};
    const std::uint64_t many = chance.mostly_small(2, 30);
    for (std::uint64_t n = 0; n < many; ++n) {
      MessagePlan& message = scenario_.messages.emplace_back();
      message.from = chance.one_of<SenderPlan>(scenario_.senders).name;
      message.at = chance.between(1min, scenario_.lasts - scenario_.lasts / 20);
      message.when = chance.one_of<SendsWhen>(kWhen);
      message.later =
          message.when == answer ? chance.mostly_short(0s, 5s) : chance.mostly_short(0s, 3min);
      message.priority = chance.percent(70) ? 3 : chance.within(1, 2);
      message.twice = chance.percent(25);
    }
    std::ranges::sort(scenario_.messages, {}, &MessagePlan::at);
  }

  // --- The lease ---

  /// From chance of its own, too. All want to lead in the same hour or two, and what strikes them
  /// does so then.
  void draw_lease() {
    Chance chance(~scenario_.seed ^ 0x6c65'6173'65ULL);
    const bool wished = std::ranges::any_of(wishes_.faults, is_of_lease);
    if (!wished && (!wishes_.policy.empty() || !chance.percent(kContended))) return;
    const Duration stays = std::min(chance.between(10min, 2h), scenario_.lasts / 2);
    const Duration begins = chance.between(1min, scenario_.lasts - stays);
    const std::uint64_t many = chance.within(2, 5);
    for (std::uint64_t n = 0; n < many; ++n) draw_contender(begins, begins + stays, chance);
    if (!wished && (scenario_.faults.empty() || has_one_kind_of_fault())) return;
    const auto is_usual = [](FaultKind kind) {
      return is_of_lease(kind) && !is_of_a_rare_lease(kind);
    };
    draw_kinds(is_usual, wished ? 100 : 50, chance);
    strike_within(is_usual, begins, stays, chance);
  }
  /// From chance of its own once more, so that a world without these is the same as ever, too.
  void draw_rare_lease() {
    Chance chance(~scenario_.seed ^ 0x7261'7265'6c65ULL);
    const bool wished = std::ranges::any_of(wishes_.faults, is_of_a_rare_lease);
    if (scenario_.contenders.empty()) return;
    if (!wished && (scenario_.faults.empty() || has_one_kind_of_fault())) return;
    if (!wished && chance.percent(50)) return;
    const std::uint64_t alone = chance.within(0, 60);
    for (ContenderPlan& contender : scenario_.contenders) contender.alone = chance.percent(alone);
    draw_kinds(is_of_a_rare_lease, wished ? 100 : 50, chance);
    const Duration begins =
        std::ranges::min(scenario_.contenders, {}, &ContenderPlan::begins).begins;
    strike_within(is_of_a_rare_lease, begins, scenario_.contenders.front().ends - begins, chance);
  }
  /// Those of these kinds, while there is somebody to be struck.
  void strike_within(bool (*is_one)(FaultKind), Duration begins, Duration stays, Chance& chance) {
    for (Fault& fault : scenario_.faults) {
      if (!is_one(fault.kind)) continue;
      fault.at = begins + chance.between(1s, stays);
      fault.lasts = std::min(fault.lasts, scenario_.lasts - fault.at);
    }
    sort_faults();
  }
  void draw_contender(Duration begins, Duration ends, Chance& chance) {
    using std::chrono::seconds;
    ContenderPlan& contender = scenario_.contenders.emplace_back();
    contender.name = fmt::format("contender{}", scenario_.contenders.size());
    contender.begins = begins + chance.between(0s, 1min);
    contender.ends = ends;
    contender.ttl = std::chrono::floor<seconds>(chance.mostly_short(5s, 5min));
    contender.works = chance.mostly_short(1s, 20min);
    contender.rests = chance.mostly_short(1s, 5min);
    contender.deaf = chance.percent(25);
  }

  // --- The service ---

  /// From chance of its own, too.
  void draw_services() {
    Chance chance(~scenario_.seed ^ 0x7365'7276'6963'65ULL);
    const bool wished = std::ranges::any_of(wishes_.faults, is_of_service);
    if (!wished && (!wishes_.policy.empty() || !chance.percent(kServed))) return;
    const std::uint64_t many = chance.within(1, 2);
    for (std::uint64_t n = 0; n < many; ++n) draw_service(chance);
    if (!wished && (scenario_.faults.empty() || has_one_kind_of_fault())) return;
    draw_kinds(is_of_service, wished ? 100 : 50, chance);
  }
  void draw_service(Chance& chance) {
    using std::chrono::seconds;
    ServicePlan& service = scenario_.services.emplace_back();
    service.name = fmt::format("service{}", scenario_.services.size());
    if (chance.percent(40)) service.agent = chance.one_of<AgentPlan>(scenario_.agents).name;
    service.begins = chance.between(0s, scenario_.lasts / 4);
    service.ends = scenario_.lasts;
    service.interval = std::chrono::floor<seconds>(chance.between(20s, 2min));
    service.lives = chance.mostly_short(20s, 2h);
    service.rests = chance.mostly_short(1s, 10min);
    service.by_pid = chance.percent(50);
  }

  // --- Other languages ---

  /// From chance of its own, too. Who is compared with others speaks as ever.
  void draw_voices() {
    Chance chance(~scenario_.seed ^ 0x766f'6963'65ULL);
    if (!wishes_.policy.empty() || !chance.percent(kOtherVoices)) return;
    constexpr Voice kOthers[] = {Voice::gemini, Voice::gemini, Voice::opencode, Voice::codex};
    for (AgentPlan& agent : scenario_.agents) {
      if (!speaks(agent.voice) || agent.is_asked() || !chance.percent(60)) continue;
      agent.voice = chance.one_of<Voice>(kOthers);
      // Of a call in which it waits for its children it would not speak.
      if (agent.voice == Voice::opencode && has_children(agent)) agent.voice = Voice::gemini;
      agent.wrapped = agent.voice == Voice::gemini || agent.voice == Voice::codex;
      for (Step& step : agent.steps) translate(step, agent.voice);
    }
  }
  /// Nobody asks people but Claude Code, and who does not show that it tries again gives up soon.
  static void translate(Step& step, Voice to) {
    constexpr Duration kLongestThought = 5min;
    if (step.kind == StepKind::ask) {
      step.kind = StepKind::think;
      step.takes = std::min(step.takes, kLongestThought);
    }
    const bool is_held = step.kind == StepKind::rate_limit || step.kind == StepKind::overload;
    const bool gives_up = to == Voice::gemini || to == Voice::opencode;
    if (is_held && gives_up) step.kind = StepKind::retry_ladder;
  }

  // --- What others refuse ---

  /// From chance of its own, too. Who is compared with others is not refused: they do not wait.
  void draw_refusals() {
    Chance chance(~scenario_.seed ^ 0x7265'6675'7365ULL);
    if (!wishes_.policy.empty() || !chance.percent(kRefused)) return;
    const std::uint64_t in_this_world = chance.within(20, 90);
    for (AgentPlan& agent : scenario_.agents) {
      if (!speaks(agent.voice) || agent.is_asked() || !chance.percent(in_this_world)) continue;
      const std::uint64_t many = chance.mostly_small(1, 4);
      for (std::uint64_t n = 0; n < many; ++n) draw_refusal(agent, chance);
    }
  }
  static void draw_refusal(AgentPlan& agent, Chance& chance) {
    using enum StepKind;
    constexpr StepKind kKinds[] = {limit_exit, limit_exit, retry_ladder, timeout_exit, denied};
    const StepKind kind = chance.one_of<StepKind>(kKinds);
    if (!was_seen(agent.voice, kind)) return;
    Step step{.kind = kind, .child = {}};
    if (kind == limit_exit) step.takes = chance.mostly_short(61s, 5h);
    if (kind == retry_ladder) step.takes = chance.mostly_short(1s, 40min);
    if (kind == timeout_exit) step.times = static_cast<std::uint32_t>(chance.mostly_small(1, 4));
    // With OpenCode that is the end, whatever came before.
    const bool at_once = kind == denied && (chance.percent(50) || agent.voice == Voice::opencode);
    if (!at_once) return insert_anywhere(agent, std::move(step), chance);
    agent.steps.insert(agent.steps.begin(), std::move(step));
  }

  /// With that agent.
  static bool was_seen(Voice voice, StepKind kind) {
    const bool may_be_denied = voice == Voice::gemini || voice == Voice::opencode;
    return voice == Voice::claude || kind == StepKind::retry_ladder ||
           (kind == StepKind::denied && may_be_denied);
  }

  // --- What all of a home share ---

  /// From chance of its own, too. Who is compared with others does without.
  void draw_database() {
    Chance chance(~scenario_.seed ^ 0x6461'7461ULL);
    const bool wished = std::ranges::any_of(wishes_.faults, is_of_database);
    if (!wished && (!wishes_.policy.empty() || !chance.percent(kShareTrouble))) return;
    if (!wished && (scenario_.faults.empty() || has_one_kind_of_fault())) return;
    draw_kinds(is_of_database, wished ? 100 : 50, chance);
  }

  Chance chance_;
  const Wishes& wishes_;
  Scenario scenario_;
  std::vector<Place> places_;  // beside the plans
  std::size_t roots_ = 0;
  std::vector<Weight> work_;
  std::vector<StepKind> troubles_;  // that there are in this world
  std::uint64_t troubled_percent_ = 0;
};

}  // namespace

bool strikes_an_agent(FaultKind kind) {
  const auto* const row = std::ranges::find(kFaults, kind, &FaultRow::kind);
  return row != std::ranges::end(kFaults) && row->of_agent;
}

Scenario draw_scenario(std::uint64_t seed, const Wishes& wishes) {
  Drawing drawing(seed, wishes);
  return wishes.plain ? drawing.plain() : drawing.anything();
}

}  // namespace tend::sim
