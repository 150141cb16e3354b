// What is cheap is looked at first, and of one that is kept nothing else.
#include "run/child_look.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "act/ending.h"
#include "store/intent.h"
#include "store/life_record.h"

namespace tend {
namespace {

constexpr std::size_t kMostOfHeartbeat = std::size_t{1024} * 1024;

ProcessIs process_of(Machine& machine, Folder& folder, const Heartbeat& says) {
  const auto lock = look_at_lock(folder);
  if (!lock) return ProcessIs::unknown;
  const ProcessId process = *lock ? (*lock)->record.process : says.process;
  // Before its first life the heartbeat names the keeper.
  return process == says.keeper ? ProcessIs::none : process_state(machine, process);
}

/// Proven only by a look at every process there is.
bool nothing_of_it_runs(Machine& machine, Folder& folder) {
  const auto all = machine.processes.all(kMarkVariable);
  return all &&
         std::ranges::none_of(*all, [&](const Seen& seen) { return seen.mark == folder.path(); });
}

/// A heartbeat is a mirror: where a power cut left half of one, the keeper's own record says enough
/// to bring its agent back. Where that is lost as well, it is enough that nothing of it runs.
std::optional<Heartbeat> mirror_of_record(Machine& machine, Folder& folder) {
  const auto lock = look_at_lock(folder);
  if (!lock) return std::nullopt;
  Heartbeat says;
  says.status = Status::running;
  if (*lock && (*lock)->record.life > 0) {
    const LifeRecord& record = (*lock)->record;
    says.life = record.life;
    says.process = record.process;
    says.keeper = record.keeper;
    return says;
  }
  if (!nothing_of_it_runs(machine, folder)) return std::nullopt;
  says.life = 1;  // or more: its journal knows
  return says;
}

void look_at_heartbeat(Machine& machine, Folder& folder, ChildSeen& seen, ChildFacts& facts) {
  const auto file = folder.facts(std::string(kHeartbeatFile));
  if (!file) {
    facts.unreadable = file.error().text;
    return;
  }
  if (!*file) return;
  facts.heartbeat = true;
  if ((*file)->file == seen.heartbeat_file) return;
  auto says = read_heartbeat(folder);
  if (says && *says) {
    seen.says = **std::move(says);
    seen.heartbeat_file = (*file)->file;
    return;
  }
  if (says) return;
  const bool can_be_read = folder.read(std::string(kHeartbeatFile), kMostOfHeartbeat).has_value();
  auto mirror = can_be_read ? mirror_of_record(machine, folder) : std::nullopt;
  if (mirror) {
    seen.says = *std::move(mirror);
  } else {
    facts.unreadable = says.error().text;
  }
}

}  // namespace

ProcessIs process_state(Machine& machine, const ProcessId& process) {
  if (process.pid == 0) return ProcessIs::none;
  if (process.boot_id != machine.processes.self().boot_id) return ProcessIs::gone;
  switch (machine.processes.open(process)->look().state) {
    case RunState::running:
    case RunState::stopped:
      return ProcessIs::alive;
    case RunState::unknown:
      return ProcessIs::unknown;
    case RunState::zombie:
    case RunState::gone:
    case RunState::reused:
      break;
  }
  return ProcessIs::gone;
}

bool is_wanted(Folder& folder) {
  const auto intent = read_intent(folder);
  return !intent || !*intent || (*intent)->want != Want::stop || (*intent)->by == kShutdownWords;
}

ChildEnd child_end_of(const Heartbeat& heartbeat) {
  if (!is_terminal(heartbeat.status)) return ChildEnd::none;
  switch (heartbeat.outcome) {
    case WorkOutcome::done:
      return ChildEnd::done;
    case WorkOutcome::withdrawn:
    case WorkOutcome::escalated:
      return ChildEnd::withdrawn;
    case WorkOutcome::orphaned:
      return ChildEnd::orphaned;
    case WorkOutcome::stopped:
      return heartbeat.ended_by == kShutdownWords ? ChildEnd::shutdown : ChildEnd::stopped;
    case WorkOutcome::failed:
      return ChildEnd::failed;
    case WorkOutcome::none:
      break;
  }
  return heartbeat.status == Status::completed ? ChildEnd::done : ChildEnd::withdrawn;
}

Verdict child_verdict_of(const Heartbeat& heartbeat, ChildKeeper keeper) {
  switch (child_end_of(heartbeat)) {
    case ChildEnd::done:
      return Verdict::finished;
    case ChildEnd::orphaned:
      return Verdict::orphaned;
    case ChildEnd::withdrawn:
    case ChildEnd::failed:
    case ChildEnd::stopped:
    case ChildEnd::shutdown:
      return Verdict::dead;
    case ChildEnd::none:
      break;
  }
  if (keeper != ChildKeeper::alive) return Verdict::unknown;
  if (heartbeat.life == 0) return Verdict::starting;
  // A child in trouble that its keeper cannot cure waits for a person, and so does who waits for
  // it, also while that keeper cannot see whether it is over; one that is gone and not over has its
  // next life before it.
  const bool in_trouble = heartbeat.verdict == Verdict::stalled ||
                          heartbeat.verdict == Verdict::looping ||
                          heartbeat.verdict == Verdict::unknown;
  if (in_trouble && heartbeat.person_told) return Verdict::waiting;
  if (heartbeat.verdict == Verdict::dead) return Verdict::starting;
  // In doubt is not in trouble: its keeper is about to know, and until then it is at work.
  if (heartbeat.verdict == Verdict::suspect) return Verdict::working;
  // Its own work is done, that of its children is not.
  const bool only_its_own = heartbeat.verdict == Verdict::finished && heartbeat.children > 0;
  return only_its_own ? Verdict::waiting : heartbeat.verdict;
}

ChildFacts facts_of(Machine& machine, Folder* folder, ChildKeeper keeper, ChildSeen& seen) {
  ChildFacts facts;
  facts.folder = folder != nullptr;
  if (folder == nullptr) return facts;
  if (!seen.agent) {
    const auto there = folder->facts(std::string(kAgentFile));
    if (there && !*there) return facts;
    auto agent = read_agent_file(*folder);
    if (!agent) {
      facts.unreadable = agent.error().text;
      return facts;
    }
    seen.agent = *std::move(agent);
  }
  facts.agent_file = true;
  facts.keeper = keeper;
  facts.own_worktree = seen.agent->own_worktree;
  look_at_heartbeat(machine, *folder, seen, facts);
  if (!facts.unreadable.empty()) return facts;
  const Heartbeat& says = seen.says;
  facts.end = child_end_of(says);
  facts.started = says.life > 0;
  facts.leaving = says.leaving;
  if (keeper == ChildKeeper::alive && facts.end == ChildEnd::none) return facts;
  if (facts.own_worktree) {
    facts.worktree_there = machine.folders.real_path(seen.agent->worktree).has_value();
  }
  facts.wanted = is_wanted(*folder);
  if (facts.end != ChildEnd::none || keeper == ChildKeeper::alive) return facts;
  facts.process = process_of(machine, *folder, says);
  facts.of_this_boot = says.process.boot_id == machine.processes.self().boot_id;
  return facts;
}

}  // namespace tend
