// All checks, in the order in which they are named.
#include "checks/check.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "store/home_database.h"
#include "store/intent.h"
#include "store/lease_files.h"

namespace tend::sim {

std::vector<std::unique_ptr<Check>> make_checks(SeededWorld& world) {
  std::vector<std::unique_ptr<Check>> checks;
  for (const auto make :
       {make_false_kill_check,    make_identity_check,      make_one_life_check,
        make_budget_check,        make_fitness_check,       make_written_first_check,
        make_journal_first_check, make_preserved_check,     make_merged_once_check,
        make_messages_check,      make_replay_check,        make_stall_found_check,
        make_nobody_left_check,   make_nothing_owed_check,  make_orders_check,
        make_session_check,       make_carried_out_check,   make_tasks_check,
        make_whole_lines_check,   make_children_kept_check, make_given_up_check,
        make_notices_check}) {
    checks.push_back(make(world));
  }
  if (!world.scenario.messages.empty()) {
    for (const auto make :
         {make_asked_check, make_answered_check, make_gate_kept_check, make_gate_order_check,
          make_gate_told_check, make_gate_held_check, make_gate_twice_check}) {
      checks.push_back(make(world));
    }
  }
  if (!world.scenario.contenders.empty()) {
    checks.push_back(make_lease_one_check(world));
    checks.push_back(make_lease_turn_check(world));
    checks.push_back(make_lease_robbed_check(world));
  }
  if (!world.scenario.services.empty()) {
    for (const auto make :
         {make_service_living_check, make_service_ends_check, make_service_beats_check,
          make_service_counts_check, make_service_one_check}) {
      checks.push_back(make(world));
    }
  }
  if (world.scenario.patrol == Duration::zero()) return checks;
  for (const auto make : {make_patrol_robs_check, make_patrol_once_check, make_patrol_early_check,
                          make_patrol_ladder_check, make_patrol_watched_check,
                          make_patrol_keepers_check, make_patrol_closes_check}) {
    checks.push_back(make(world));
  }
  return checks;
}

bool are_many_silent(const SeededWorld& world) {
  std::size_t all = 0;
  std::size_t silent = 0;
  for (const AgentPlan& agent : world.scenario.agents) {
    const auto says = world.heartbeat_of(agent.name);
    if (!says || is_terminal(says->status)) continue;
    ++all;
    const Verdict is = says->verdict;
    if (is == Verdict::suspect || is == Verdict::stalled || is == Verdict::unknown) ++silent;
  }
  return silent >= 3 && silent * 2 >= all;
}

bool is_well_for(const SeededWorld& world, const AgentTruth& agent, Duration time) {
  const std::string& name = agent.plan->name;
  const LifeTruth* const life = agent.life();
  if (!agent.well || life == nullptr || life->hang || life->unheard || agent.stop_ordered) {
    return false;
  }
  const auto keepers = world.processes_of(name, Owner::Is::keeper);
  if (keepers.size() != 1 || world.keeper_is_paused(keepers.front())) return false;
  if (world.is_to_pause(name) || world.is_shutting_down() || world.is_disturbed()) return false;
  return world.elapsed() - std::max(*agent.well, world.last_fault()) >= time;
}

std::unique_ptr<Database> home_database_of(SeededWorld& world) {
  const std::string path = fmt::format("{}/{}", SeededWorld::kHome, kDatabaseFile);
  const auto found = world.universe.databases.find(path);
  if (found == world.universe.databases.end()) return nullptr;
  return look_into(found->second, path);
}

std::optional<LeaseRecord> lease_of(const SeededWorld& world, const char* name) {
  const std::string folder = fmt::format("{}/{}/{}", SeededWorld::kHome, kLeasesFolder, name);
  std::optional<LeaseRecord> newest;
  for (const std::string& path : world.universe.disk.files(folder)) {
    if (!path.ends_with(".json")) continue;
    const auto text = world.universe.disk.read(path);
    auto record = text ? parse_lease(*text) : fail("");
    if (record && (!newest || record->version > newest->version)) newest = *std::move(record);
  }
  return newest;
}

namespace {

bool is_there(SeededWorld& world, const ProcessId& process) {
  const auto facts = world.universe.facts(process.pid);
  return facts && facts->id == process &&
         (facts->state == RunState::running || facts->state == RunState::stopped);
}

}  // namespace

bool is_subject_over(SeededWorld& world, std::size_t service) {
  const ServiceTruth& truth = world.truth().services[service];
  if (world.scenario.services[service].agent.empty()) {
    const ProcessId& subject = truth.subject;
    return subject.pid != 0 && !is_there(world, subject);
  }
  const auto says = world.heartbeat_in(truth.agent);
  return says && is_terminal(says->status);
}

bool is_subject_at_work(SeededWorld& world, std::size_t service) {
  using enum Verdict;
  const std::string& agent = world.scenario.services[service].agent;
  const ServiceTruth& truth = world.truth().services[service];
  ProcessId process = truth.subject;
  if (!agent.empty()) {
    const auto says = world.heartbeat_in(truth.agent);
    if (!says || is_terminal(says->status)) return false;
    if (world.processes_of(agent, Owner::Is::keeper).empty()) return false;
    constexpr Verdict kNot[] = {stalled, dead, looping, orphaned, finished};
    if (std::ranges::find(kNot, says->verdict) != std::end(kNot)) return false;
    process = says->process;
  }
  const auto facts = world.universe.facts(process.pid);
  return facts && facts->id == process && facts->state == RunState::running;
}

StopOrder order_to(const SeededWorld& world, const AgentTruth& agent) {
  if (agent.folder.empty()) return {};
  const auto text = world.universe.disk.read(agent.folder + "/" + std::string(kIntentFile));
  if (!text || !text->contains(R"("want":"stop")") || !nlohmann::json::accept(*text)) return {};
  return {.stop = true, .tree = text->contains(R"("tree":true)")};
}

bool has_fault(const Scenario& scenario, std::initializer_list<FaultKind> kinds) {
  return std::ranges::any_of(scenario.faults, [&](const Fault& fault) {
    return std::ranges::find(kinds, fault.kind) != kinds.end();
  });
}

bool loses_power(const Scenario& scenario) {
  return has_fault(scenario, {FaultKind::power_cut, FaultKind::torn_power_cut,
                              FaultKind::lying_disk, FaultKind::cut_after_dispatch,
                              FaultKind::cut_after_telling, FaultKind::cut_after_receive,
                              FaultKind::cut_at_clear, FaultKind::cut_after_grant});
}

bool sets_calendar(const Scenario& scenario) {
  return has_fault(scenario, {FaultKind::clock_step, FaultKind::set_in_hold});
}

}  // namespace tend::sim
