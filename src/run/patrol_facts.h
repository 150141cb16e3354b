// What a sweep knows of tasks and of those who hold them, put into the facts that the patrol plans
// with. Nothing is guessed: who cannot be looked at is unseen, and who is only a name leaves no
// trace.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "judge/patrol.h"
#include "run/roster.h"
#include "store/tasks.h"

namespace tend {

/// The agents of a home as workers.
class WorkersOfHome {
 public:
  /// `agents` as roster() gave them, to be held as long as this lives.
  WorkersOfHome(const Result<std::vector<Entry>>& agents, WallTime now);

  [[nodiscard]] WorkerFacts of(const Task& task) const;
  /// The kept agent that holds the task; nullptr if it is none, or none is known.
  [[nodiscard]] const Entry* agent_of(const Task& task) const;

 private:
  [[nodiscard]] const Entry* named(const Task& task) const;
  [[nodiscard]] WorkerFacts facts_of(const Entry& entry) const;

  const Result<std::vector<Entry>>& agents_;
  WallTime now_;
  std::map<std::string, const Entry*, std::less<>> by_folder_;
  std::map<std::string, const Entry*, std::less<>> by_name_;  // who is not over, else the newest
};

TaskIs task_status(const Task& task);

/// `answered` is when the worker last acknowledged a letter or showed progress.
TaskFacts task_facts(const Task& task, WorkerFacts worker, std::optional<WallTime> answered,
                     WallTime now);

}  // namespace tend
