// All checks, in the order in which they are named.
#include "checks/check.h"

namespace tend::sim {

std::vector<std::unique_ptr<Check>> make_checks(SeededWorld& world) {
  std::vector<std::unique_ptr<Check>> checks;
  for (const auto make :
       {make_false_kill_check, make_identity_check, make_one_life_check, make_budget_check,
        make_fitness_check, make_journal_first_check, make_preserved_check, make_merged_once_check,
        make_messages_check, make_replay_check, make_stall_found_check, make_nobody_left_check,
        make_nothing_owed_check}) {
    checks.push_back(make(world));
  }
  return checks;
}

bool has_fault(const Scenario& scenario, std::initializer_list<FaultKind> kinds) {
  return std::ranges::any_of(scenario.faults, [&](const Fault& fault) {
    return std::ranges::find(kinds, fault.kind) != kinds.end();
  });
}

bool loses_files(const Scenario& scenario) {
  return has_fault(scenario, {FaultKind::full_disk, FaultKind::unreadable, FaultKind::power_cut,
                              FaultKind::torn_power_cut, FaultKind::lying_disk,
                              FaultKind::torn_at_call, FaultKind::newer_version});
}

}  // namespace tend::sim
