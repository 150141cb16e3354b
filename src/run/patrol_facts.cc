// A claim names its holder, and that of a kept agent its folder too. A folder is proof; a name
// alone may have been given again.
#include "run/patrol_facts.h"

#include <algorithm>
#include <utility>

#include "run/child_look.h"

namespace tend {
namespace {

Duration since(WallTime then, WallTime now) {
  return std::chrono::duration_cast<Duration>(now - then);
}

/// Its own work is over, whether or not its keeper stays for those below it.
std::optional<ChildEnd> end_of(const Heartbeat& says) {
  if (is_terminal(says.status)) return child_end_of(says);
  if (says.outcome == WorkOutcome::none) return std::nullopt;
  Heartbeat ended = says;
  ended.status = says.outcome == WorkOutcome::done ? Status::completed : Status::withdrawn;
  return child_end_of(ended);
}

}  // namespace

WorkersOfHome::WorkersOfHome(const Result<std::vector<Entry>>& agents, WallTime now)
    : agents_(agents), now_(now) {
  if (!agents_) return;
  for (const Entry& entry : *agents_) {
    if (!entry.known.folder) continue;
    by_folder_[entry.known.folder->path()] = &entry;
    const std::string& name = entry.known.heartbeat.agent;
    if (name.empty()) continue;
    const auto [place, is_new] = by_name_.try_emplace(name, &entry);
    if (is_new) continue;
    const Entry& before = *place->second;
    const bool better =
        before.over() == entry.over() ? is_newer(before.known, entry.known) : before.over();
    if (better) place->second = &entry;
  }
}

/// One that was over before the task was heard of last is not who holds it.
const Entry* WorkersOfHome::named(const Task& task) const {
  const auto found = by_name_.find(task.assignee.value_or(""));
  if (found == by_name_.end()) return nullptr;
  const Entry* const entry = found->second;
  const WallTime heard = std::max(task.updated_at, task.last_sign());
  return end_of(entry->known.heartbeat) && entry->since <= heard ? nullptr : entry;
}

const Entry* WorkersOfHome::agent_of(const Task& task) const {
  if (!task.worker) return named(task);
  const auto found = by_folder_.find(*task.worker);
  return found == by_folder_.end() ? nullptr : found->second;
}

WorkerFacts WorkersOfHome::facts_of(const Entry& entry) const {
  WorkerFacts facts;
  const Heartbeat& says = entry.known.heartbeat;
  if (!entry.known.problem.empty()) {
    facts.is = WorkerIs::unseen;
    facts.unseen_because = entry.known.problem;
  } else if (const auto end = end_of(says)) {
    facts.is = WorkerIs::over;
    facts.end = *end;
    if (entry.since != WallTime{}) facts.ended_ago = since(entry.since, now_);
  } else if (entry.keeper == KeeperIs::alive) {
    facts.is = WorkerIs::kept;
    // Who was told to pause is not silent by itself.
    facts.verdict = says.status == Status::paused ? Verdict::waiting : entry.verdict;
  } else {
    facts.is = WorkerIs::unkept;
  }
  return facts;
}

WorkerFacts WorkersOfHome::of(const Task& task) const {
  WorkerFacts facts;
  if (!agents_) {
    facts.is = WorkerIs::unseen;
    facts.unseen_because = agents_.error().text;
  } else if (const Entry* const entry = agent_of(task)) {
    facts = facts_of(*entry);
  }
  facts.name = task.assignee.value_or("");
  return facts;
}

TaskIs task_status(const Task& task) {
  if (task.status == kOpen) return TaskIs::open;
  if (task.status == kInProgress) return TaskIs::in_progress;
  if (task.status == kBlocked) return TaskIs::blocked;
  return task.status == kClosed ? TaskIs::closed : TaskIs::other;
}

TaskFacts task_facts(const Task& task, WorkerFacts worker, std::optional<WallTime> answered,
                     WallTime now) {
  static_assert(kTaskContexts == kPatrolContexts);
  TaskFacts facts;
  facts.id = task.id;
  facts.status = task_status(task);
  facts.context = static_cast<PatrolContext>(task.context);
  facts.fence = task.fence;
  const bool is_held = facts.status == TaskIs::in_progress;
  facts.last_sign = is_held ? task.last_sign() : task.updated_at;
  facts.age = since(facts.last_sign, now);
  facts.beat = is_held && task.last_heartbeat.has_value();
  if (answered) facts.pong_age = since(*answered, now);
  facts.worker = std::move(worker);
  return facts;
}

}  // namespace tend
