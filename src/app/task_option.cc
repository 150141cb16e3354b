// One question, and the answer in the words of `tend task claim`.
#include "app/task_option.h"

#include <optional>

#include "app/task_view.h"
#include "run/work_items.h"
#include "store/config_file.h"

namespace tend {
namespace {

using Did = TaskAnswer::Did;

/// What a claim in this name would be told.
Did claimable_by(const Task& task, const std::string& name) {
  if (task.status == kClosed) return Did::not_claimable;
  if (task.assignee && task.assignee != name) return Did::held_by_other;
  return task.status == kOpen || task.status == kInProgress ? Did::done : Did::not_claimable;
}

}  // namespace

Result<void> check_task_is_free(World& world, Home& home, const AgentFile& agent) {
  if (agent.task.empty()) return {};
  const auto config = user_config(world);
  if (!config) return std::unexpected(config.error());
  Machine& machine = home.machine;
  const auto items = work_items(machine, *home.folder, *config);
  std::optional<Result<TaskAnswer>> found;
  const Subscribed asked = items->find(agent.task, [&](const Result<TaskAnswer>& answer) {
    found = answer;
    machine.loop.stop();
  });
  machine.loop.run();
  if (!*found) return std::unexpected(found->error());
  TaskAnswer answer = **found;
  if (answer.did == Did::done) answer.did = claimable_by(answer.task, agent.agent);
  if (answer.did == Did::done) return {};
  const std::string name = agent.agent.empty() ? "this agent" : agent.agent;
  return fail("--task: " + why_not(answer, agent.task, name, machine.clock.wall()));
}

}  // namespace tend
