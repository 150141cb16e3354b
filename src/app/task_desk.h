// What commands about tasks share: where the tasks are, who comes for them, and the options that
// say which are meant.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/command.h"
#include "app/home_records.h"
#include "base/result.h"
#include "run/work_items.h"
#include "store/tasks.h"

namespace tend {

inline constexpr Duration kReclaimedAfter = std::chrono::minutes{10};

/// The tasks that are asked: those of the home, or those of the `bd` that the configuration names.
/// With such a `bd`, the loop runs until it has answered.
struct Desk : HomeRecords {
  Tasks own;
  std::unique_ptr<WorkItems> beads;  // nullptr: the home's own
  std::string beads_name;            // its program, for people

  Result<std::optional<Task>> find(const std::string& id);
  Result<std::vector<Task>> list(const TaskFilter& filter);
  Result<TaskAnswer> claim(const std::string& id, const Worker& worker);
  Result<TaskAnswer> beat(const std::string& id, const Worker& worker,
                          const std::optional<std::string>& message);
  Result<TaskAnswer> release(const std::string& id, const Worker& worker);
  Result<TaskAnswer> close(const std::string& id, const Worker& worker,
                           const std::optional<std::string>& reason, bool by_force);
  Result<TaskAnswer> reclaim(const Task& held);
  // Only of the home; a `bd` is asked for these by its own commands.
  Result<TaskAnswer> add(const Task& task);
  Result<TaskAnswer> reopen(const std::string& id);
  Result<TaskAnswer> update(const std::string& id, const TaskWish& wish);
};

/// Wherever the configuration says that the tasks are.
Result<Desk> open_desk(World& world);
/// The home's own, whatever the configuration says.
Result<Desk> open_own_desk(World& world);

/// The actor of that name (actor.h), as one who comes for tasks.
Result<Worker> worker_named(const std::optional<std::string>& typed, World& world);

/// The number of a claim; nullopt if the option was not given.
Result<std::optional<std::int64_t>> fence_option(const Arguments& arguments, std::string_view name);

/// What an agent says of its task itself is a sign of it, for its keeper; what the keeper says is
/// none. Nothing outside of a kept agent.
void tell_keeper(const Task& task);

/// A new id: "t-" and six letters.
std::string made_id(Entropy& entropy);
Result<void> check_words(std::string_view what, const std::vector<std::string>& words);
/// A text for people, of a line.
Result<void> check_line(std::string_view what, const std::string& text);

/// By --id, --status, --assignee, --label, --label-any, --exclude-label and --no-assignee, those
/// that the command has. One that is given and empty is an error.
Result<TaskFilter> filter_of(const Arguments& arguments);

struct Reclaimed {
  std::vector<Task> freed;        // as they were before
  std::vector<Task> passed_over;  // of kept agents that are at work
};
/// By --force and --dry-run.
Result<Reclaimed> reclaim(const Arguments& arguments, Desk& desk, const TaskFilter& filter);

/// A table, a task each.
std::string listed_for_people(const std::vector<Task>& tasks, World& world, WallTime now);

}  // namespace tend
