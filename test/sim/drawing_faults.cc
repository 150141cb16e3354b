// Draws the faults of a scenario: which kinds there are in its world, when and whom they strike, by
// the table of all of them.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <utility>

#include "drawing.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration kFirstFault = 2min;
constexpr std::uint64_t kShareTrouble = 5;  // percent of worlds, with their database
constexpr Duration kShortRest = 90s;        // of a patrol that soon finds itself late

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

}  // namespace

void Drawing::draw_faults() {
  for (const FaultRow& row : draw_fault_kinds()) {
    const std::uint64_t many = chance_.mostly_small(1, row.most);
    for (std::uint64_t n = 0; n < many; ++n) scenario_.faults.push_back(draw_fault(row, chance_));
  }
  sort_faults();
}

void Drawing::sort_faults() {
  std::ranges::sort(scenario_.faults, {}, [](const Fault& fault) {
    return std::tuple(fault.at, fault.kind, fault.whom, fault.lasts, fault.number);
  });
}

bool Drawing::is_wished(FaultKind kind) const {
  return wishes_.all_faults || std::ranges::find(wishes_.faults, kind) != wishes_.faults.end();
}

/// Who wishes for certain kinds wants to see at least one of them.
std::vector<FaultRow> Drawing::draw_fault_kinds() {
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
Fault Drawing::draw_fault(const FaultRow& row, Chance& chance) {
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
void Drawing::draw_tasks() {
  Chance chance(~scenario_.seed);
  const std::uint64_t in_this_world = chance.percent(50) ? 0 : chance.within(20, 100);
  for (AgentPlan& agent : scenario_.agents) agent.task = chance.percent(in_this_world);
  constexpr TaskContext kOthers[] = {TaskContext::overnight, TaskContext::critical};
  Chance of_contexts(~scenario_.seed ^ 0x7461'736bULL);
  for (AgentPlan& agent : scenario_.agents) {
    const bool is_other = of_contexts.percent(30);
    const TaskContext other = of_contexts.one_of<TaskContext>(kOthers);
    if (agent.task && is_other) agent.context = other;
  }
}

/// Some hangs end by themselves, in the seconds in which their work is being saved.
void Drawing::draw_awakenings() {
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
void Drawing::draw_meetings() {
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
void Drawing::draw_kinds(bool (*is_one)(FaultKind), std::uint64_t percent, Chance& chance) {
  for (const FaultRow& row : kFaults) {
    const bool here = is_one(row.kind) && is_wished(row.kind) && chance.percent(percent);
    const std::uint64_t many = here ? chance.mostly_small(1, row.most) : 0;
    for (std::uint64_t n = 0; n < many; ++n) {
      scenario_.faults.push_back(draw_fault(row, chance));
    }
  }
  sort_faults();
}

/// Of one that still holds a task of its own choice: only the patrol sets that free.
void Drawing::draw_stops(Chance& chance) {
  if (!is_wished(FaultKind::stop_order) || !chance.percent(60)) return;
  for (const AgentPlan& agent : scenario_.agents) {
    if (!agent.claims || !chance.percent(50)) continue;
    Fault stop = draw_fault(kFaults[static_cast<std::size_t>(FaultKind::stop_order)], chance);
    stop.whom = agent.name;
    scenario_.faults.push_back(std::move(stop));
  }
}

/// Such a world shows what this kind does alone.
bool Drawing::has_one_kind_of_fault() const {
  const auto differs = [](const Fault& one, const Fault& next) { return one.kind != next.kind; };
  return std::ranges::adjacent_find(scenario_.faults, differs) == scenario_.faults.end();
}

/// From chance of its own: a world without them is the same as ever.
void Drawing::draw_moments() {
  Chance chance(scenario_.seed ^ 0x6d6f'6d65'6e74ULL);
  const auto is_of_ours = [](FaultKind kind) {
    return is_of_a_moment(kind) && !is_of_a_rare_moment(kind);
  };
  const bool wished = std::ranges::any_of(wishes_.faults, is_of_ours);
  if (!wished && (scenario_.faults.empty() || chance.percent(75))) return;
  draw_kinds(is_of_ours, wished ? 100 : 50, chance);
}

/// The same, so that a world without these is the same as ever, too.
void Drawing::draw_rare_moments() {
  Chance chance(scenario_.seed ^ 0x7261'7265ULL);
  const bool wished = std::ranges::any_of(wishes_.faults, is_of_a_rare_moment);
  if (!wished && (scenario_.faults.empty() || chance.percent(85))) return;
  draw_kinds(is_of_a_rare_moment, wished ? 100 : 30, chance);
  const bool slow = std::ranges::find(scenario_.faults, FaultKind::slow_saving, &Fault::kind) !=
                    scenario_.faults.end();
  if (slow) scenario_.patrol = std::min(scenario_.patrol, kShortRest);
}

/// From chance of its own, too. Who is compared with others does without.
void Drawing::draw_database() {
  Chance chance(~scenario_.seed ^ 0x6461'7461ULL);
  const bool wished = std::ranges::any_of(wishes_.faults, is_of_database);
  if (!wished && (!wishes_.policy.empty() || !chance.percent(kShareTrouble))) return;
  if (!wished && (scenario_.faults.empty() || has_one_kind_of_fault())) return;
  draw_kinds(is_of_database, wished ? 100 : 50, chance);
}

bool strikes_an_agent(FaultKind kind) {
  const auto* const row = std::ranges::find(kFaults, kind, &FaultRow::kind);
  return row != std::ranges::end(kFaults) && row->of_agent;
}

}  // namespace tend::sim
