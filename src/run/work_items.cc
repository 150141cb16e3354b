// The home's database is opened for each question and closed behind it: a keeper lives for days,
// asks every few minutes, and has to stay small.
#include "run/work_items.h"

#include <tuple>
#include <utility>

#include "store/home_database.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Did = TaskAnswer::Did;

/// Whoever keeps an agent has other things to do than to wait: it asks again.
constexpr Duration kMayWait = 2s;

class HomeWorkItems final : public WorkItems {
 public:
  HomeWorkItems(Machine& machine, Folder& home) : machine_(machine), home_(home) {}

  Subscribed list(const TaskFilter& filter, Listed listed) override {
    return ask<std::vector<Task>>(
        [filter](Tasks& tasks, WallTime now) { return tasks.list(filter, now); },
        std::move(listed));
  }
  Subscribed find(const std::string& id, Answered answered) override {
    return ask<TaskAnswer>(
        [id](Tasks& tasks, WallTime) -> Result<TaskAnswer> {
          auto found = tasks.find(id);
          if (!found) return std::unexpected(found.error());
          if (!*found) return TaskAnswer{.did = Did::no_such_task, .task = {}};
          return TaskAnswer{.did = Did::done, .task = **std::move(found)};
        },
        std::move(answered));
  }
  Subscribed claim(const std::string& id, const Worker& worker, Answered answered) override {
    return ask<TaskAnswer>(
        [id, worker](Tasks& tasks, WallTime now) { return tasks.claim(id, worker, now); },
        std::move(answered));
  }
  Subscribed beat(const std::string& id, const Worker& worker,
                  const std::optional<std::string>& message, Answered answered) override {
    return ask<TaskAnswer>(
        [id, worker, message](Tasks& tasks, WallTime now) {
          return tasks.beat(id, worker, message, now);
        },
        std::move(answered));
  }
  Subscribed release(const std::string& id, const Worker& worker, Answered answered) override {
    return ask<TaskAnswer>(
        [id, worker](Tasks& tasks, WallTime now) { return tasks.release(id, worker, now); },
        std::move(answered));
  }
  Subscribed close(const std::string& id, const Worker& worker,
                   const std::optional<std::string>& reason, Answered answered) override {
    return ask<TaskAnswer>(
        [id, worker, reason](Tasks& tasks, WallTime now) {
          return tasks.close(id, worker, reason, false, now);
        },
        std::move(answered));
  }
  Subscribed reclaim(const Task& held, Answered answered) override {
    return ask<TaskAnswer>([held](Tasks& tasks, WallTime now) { return tasks.reclaim(held, now); },
                           std::move(answered));
  }

 private:
  /// What is asked is done when the answer comes: who drops the subscription before has changed
  /// nothing.
  template <class Answer>
  Subscribed ask(std::function<Result<Answer>(Tasks&, WallTime)> question,
                 std::function<void(const Result<Answer>&)> answered) {
    Machine& machine = machine_;
    Folder& home = home_;
    return machine.loop.at(machine.clock.now(), [&machine, &home, question = std::move(question),
                                                 answered = std::move(answered)] {
      const auto put = [&]() -> Result<Answer> {
        auto database = open_home_database(machine.databases, home, {.may_wait = kMayWait});
        if (!database) return std::unexpected(database.error());
        Tasks tasks(**database, TaskLimits{});
        return question(tasks, machine.clock.wall());
      };
      answered(put());
    });
  }

  Machine& machine_;
  Folder& home_;
};

}  // namespace

std::unique_ptr<WorkItems> home_work_items(Machine& machine, Folder& home) {
  return std::make_unique<HomeWorkItems>(machine, home);
}

std::unique_ptr<WorkItems> work_items(Machine& machine, Folder& home, const Config& config) {
  if (!config.beads.empty()) return beads_work_items(machine, config.beads);
  return home_work_items(machine, home);
}

}  // namespace tend
