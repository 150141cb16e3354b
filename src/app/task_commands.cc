// Each asks one thing of whoever has the tasks, and says what became of that.
#include "app/task_commands.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/agent_json.h"
#include "app/home_option.h"
#include "app/number_option.h"
#include "app/task_desk.h"
#include "app/task_view.h"
#include "base/duration.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "store/tasks.h"

namespace tend {
namespace {

using namespace std::chrono_literals;
using Did = TaskAnswer::Did;
using Json = nlohmann::ordered_json;

/// By --actor and --fence.
Result<Worker> worker_asked_for(const Arguments& arguments, World& world) {
  auto fence = fence_option(arguments, "fence");
  if (!fence) return std::unexpected(fence.error());
  auto worker = worker_named(arguments.value("actor"), world);
  if (worker) worker->fence = *fence;
  return worker;
}

void print_task(const Arguments& arguments, World& world, const Task& task,
                const std::string& words) {
  if (arguments.has("json")) {
    world.out.write(json_line(task_json(task)));
  } else if (!arguments.has("quiet")) {
    world.out.write(words + "\n");
  }
}

/// The task that is named, or the one that the agent around us works on.
std::string task_asked_for(const Arguments& arguments, World& world) {
  if (!arguments.positionals.empty()) return arguments.positionals.front();
  return world.environment.variable("TEND_TASK").value_or("");
}

/// What a holder asks of the task it names.
using Ask = std::function<Result<TaskAnswer>(Desk& desk, const std::string& id, const Worker&)>;
int ask_as_worker(const Arguments& arguments, World& world, std::string_view command,
                  const Ask& ask, const std::function<std::string(const Task&)>& words) {
  const std::string id = task_asked_for(arguments, world);
  if (id.empty()) {
    return complain(world, command, "which task? Say its ID, or set TEND_TASK", kExitUsage);
  }
  if (auto ok = check_task_id(id); !ok)
    return complain(world, command, ok.error().text, kExitUsage);
  const auto worker = worker_asked_for(arguments, world);
  if (!worker) return complain(world, command, worker.error().text, kExitUsage);
  auto desk = open_desk(world);
  if (!desk) return complain(world, command, desk.error().text, kExitNo);
  const auto answer = ask(*desk, id, *worker);
  if (!answer) return complain(world, command, answer.error().text, kExitNo);
  if (answer->did != Did::done && answer->did != Did::as_before) {
    return complain(world, command, why_not(*answer, id, worker->name, desk->now()), kExitNo);
  }
  print_task(arguments, world, answer->task, words(answer->task));
  return kExitYes;
}

TaskContext context_of(const std::string& word) {
  return from_word<TaskContext>(kTaskContextWords, word).value_or(TaskContext::active);
}

/// A word of one's own is allowed, and left alone by all: one that is nearly ours is a slip.
void note_slip(World& world, std::string_view command, const std::optional<std::string>& status) {
  constexpr std::array kOurs{kOpen, kInProgress, kBlocked, kClosed};
  if (!status || std::ranges::find(kOurs, *status) != kOurs.end()) return;
  const std::string meant = did_you_mean(*status, kOurs);
  if (meant.empty()) return;
  complain(world, command,
           fmt::format("the status {} is a word of your own, and nobody looks after such a task{}",
                       in_quotes(*status), meant),
           kExitYes);
}

Result<Task> new_task(const Arguments& arguments, Entropy& entropy) {
  Task task;
  task.title = arguments.positionals.front();
  task.id = arguments.value("id").value_or(made_id(entropy));
  task.status = arguments.value("status").value_or(std::string(kOpen));
  task.assignee = arguments.value("assignee");
  task.context = context_of(arguments.value("context").value_or(""));
  task.labels = arguments.values("label");
  if (auto ok = check_line("the title", task.title); !ok) return std::unexpected(ok.error());
  if (auto ok = check_task_id(task.id); !ok) return std::unexpected(ok.error());
  if (auto ok = check_task_word("the status", task.status); !ok) return std::unexpected(ok.error());
  if (task.status == kInProgress) {
    return fail("a new task is not in progress: add it, then `tend task claim` it");
  }
  if (auto ok = check_words("a label", task.labels); !ok) return std::unexpected(ok.error());
  if (task.assignee) {
    if (auto ok = check_task_word("the assignee", *task.assignee); !ok) {
      return std::unexpected(ok.error());
    }
  }
  return task;
}

Json reclaimed_json(const std::vector<Task>& tasks) {
  Json list = Json::array();
  for (const Task& task : tasks) {
    list.push_back(
        {{"id", task.id},
         {"previous_assignee", task.assignee.value_or("")},
         {"heartbeat_message", task.heartbeat_message ? Json(*task.heartbeat_message) : Json()}});
  }
  return list;
}

}  // namespace

int task_add_command(const Arguments& arguments, World& world) {
  auto desk = open_desk(world);
  if (!desk) return complain(world, "task add", desk.error().text, kExitNo);
  const auto task = new_task(arguments, desk->home.machine.entropy);
  if (!task) return complain(world, "task add", task.error().text, kExitUsage);
  const auto answer = desk->add(*task);
  if (!answer) return complain(world, "task add", answer.error().text, kExitNo);
  if (answer->did != Did::done) {
    return complain(world, "task add", why_not(*answer, task->id, "", desk->now()), kExitNo);
  }
  print_task(arguments, world, answer->task, on_one_line(answer->task.id));
  note_slip(world, "task add", arguments.value("status"));
  return kExitYes;
}

int task_claim_command(const Arguments& arguments, World& world) {
  return ask_as_worker(
      arguments, world, "task claim",
      [](Desk& desk, const std::string& id, const Worker& worker) {
        return desk.claim(id, worker);
      },
      [](const Task& task) {
        return fmt::format("{}: yours, claim {}", on_one_line(task.id), task.fence);
      });
}

int task_show_command(const Arguments& arguments, World& world) {
  const std::string& id = arguments.positionals.front();
  auto desk = open_desk(world);
  if (!desk) return complain(world, "task show", desk.error().text, kExitNo);
  const auto task = desk->find(id);
  if (!task) return complain(world, "task show", task.error().text, kExitNo);
  if (!*task) {
    const TaskAnswer none{.did = Did::no_such_task, .task = {}};
    return complain(world, "task show", why_not(none, id, "", desk->now()), kExitNo);
  }
  world.out.write(arguments.has("json") ? json_line(task_json(**task))
                                        : task_in_words(**task, desk->now()));
  return kExitYes;
}

int task_update_command(const Arguments& arguments, World& world) {
  TaskWish wish{.title = arguments.value("title"),
                .status = arguments.value("status"),
                .assignee = arguments.value("assignee"),
                .context = {},
                .add_labels = arguments.values("add-label"),
                .remove_labels = arguments.values("remove-label")};
  if (const auto context = arguments.value("context")) wish.context = context_of(*context);
  const auto refuse = [&](const std::string& text) {
    return complain(world, "task update", text, kExitUsage);
  };
  if (arguments.has("no-assignee")) {
    if (wish.assignee) return refuse("--assignee and --no-assignee: choose one");
    wish.assignee = "";
  }
  const bool changes = wish.title || wish.status || wish.assignee || wish.context ||
                       !wish.add_labels.empty() || !wish.remove_labels.empty();
  if (!changes && !arguments.has("claim")) return refuse("says nothing to change; see --help");
  if (wish.title) {
    if (auto ok = check_line("the title", *wish.title); !ok) return refuse(ok.error().text);
  }
  for (const std::string_view name : {"status", "assignee", "add-label", "remove-label"}) {
    if (auto ok = check_words("--" + std::string(name), arguments.values(name)); !ok) {
      return refuse(ok.error().text);
    }
  }
  const int code = ask_as_worker(
      arguments, world, "task update",
      [&](Desk& desk, const std::string& id, const Worker& worker) -> Result<TaskAnswer> {
        if (arguments.has("claim")) {
          auto claimed = desk.claim(id, worker);
          if (!claimed || claimed->did != Did::done || !changes) return claimed;
        }
        return desk.update(id, wish);
      },
      [](const Task& task) {
        return fmt::format("{}: {}{}", on_one_line(task.id), on_one_line(task.status),
                           task.assignee ? ", " + on_one_line(*task.assignee) : "");
      });
  if (code == kExitYes) note_slip(world, "task update", wish.status);
  return code;
}

int task_release_command(const Arguments& arguments, World& world) {
  return ask_as_worker(
      arguments, world, "task release",
      [](Desk& desk, const std::string& id, const Worker& worker) {
        return desk.release(id, worker);
      },
      [](const Task& task) { return fmt::format("{}: open", on_one_line(task.id)); });
}

int task_close_command(const Arguments& arguments, World& world) {
  return ask_as_worker(
      arguments, world, "task close",
      [&](Desk& desk, const std::string& id, const Worker& worker) {
        return desk.close(id, worker, arguments.value("reason"), arguments.has("force"));
      },
      [](const Task& task) { return fmt::format("{}: closed", on_one_line(task.id)); });
}

int task_reopen_command(const Arguments& arguments, World& world) {
  return ask_as_worker(
      arguments, world, "task reopen",
      [](Desk& desk, const std::string& id, const Worker&) { return desk.reopen(id); },
      [](const Task& task) {
        return fmt::format("{}: {}", on_one_line(task.id), on_one_line(task.status));
      });
}

int heartbeat_command(const Arguments& arguments, World& world) {
  const auto message = arguments.value("message");
  if (message) {
    if (auto ok = check_line("--message", *message); !ok) {
      return complain(world, "heartbeat", ok.error().text, kExitUsage);
    }
  }
  return ask_as_worker(
      arguments, world, "heartbeat",
      [&](Desk& desk, const std::string& id, const Worker& worker) {
        auto answer = desk.beat(id, worker, message);
        if (!answer || answer->did != Did::done) return answer;
        if (worker.folder) tell_keeper(answer->task);
        if (message && !answer->task.heartbeat_message) {
          world.err.write(fmt::format("tend heartbeat: the beat counts, but {} keeps no messages\n",
                                      desk.beads_name));
        }
        return answer;
      },
      [](const Task& task) {
        const std::string id = on_one_line(task.id);
        if (!task.lease_expires_at) return fmt::format("{}: yours", id);
        return fmt::format("{}: yours until {}", id, rfc3339(*task.lease_expires_at));
      });
}

int list_command(const Arguments& arguments, World& world) {
  auto filter = filter_of(arguments);
  if (!filter) return complain(world, "list", filter.error().text, kExitUsage);
  const auto stale_for = time_option(arguments, "heartbeat-stale");
  if (!stale_for) return complain(world, "list", stale_for.error().text, kExitUsage);
  filter->stale = arguments.has("heartbeat-stale");
  filter->stale_for = *stale_for;
  filter->not_closed = filter->stale && !filter->status;  // nobody is missed there
  const auto most = count_option(arguments, "limit", 0);
  if (!most) return complain(world, "list", most.error().text, kExitUsage);
  if (*most > 0) filter->most = static_cast<std::int64_t>(*most);
  auto desk = open_desk(world);
  if (!desk) return complain(world, "list", desk.error().text, kExitNo);
  const WallTime now = desk->now();
  const auto tasks = desk->list(*filter);
  if (!tasks) return complain(world, "list", tasks.error().text, kExitNo);
  if (arguments.has("json")) {
    Json all = Json::array();
    for (const Task& task : *tasks) {
      const Duration silent = std::chrono::duration_cast<Duration>(now - task.last_sign());
      all.push_back(task_json(task, filter->stale ? std::optional(silent) : std::nullopt));
    }
    world.out.write(json_line(all));
  } else if (tasks->empty()) {
    world.out.write(filter->stale ? "nobody is missed\n" : "no tasks\n");
  } else {
    world.out.write(listed_for_people(*tasks, world, now));
  }
  return kExitYes;
}

int reclaim_command(const Arguments& arguments, World& world) {
  auto filter = filter_of(arguments);
  if (!filter) return complain(world, "reclaim", filter.error().text, kExitUsage);
  const auto older = time_option(arguments, "older-than");
  if (!older) return complain(world, "reclaim", older.error().text, kExitUsage);
  filter->status = std::string(kInProgress);
  filter->stale = true;
  filter->stale_for = older->value_or(kReclaimedAfter);
  auto desk = open_desk(world);
  if (!desk) return complain(world, "reclaim", desk.error().text, kExitNo);
  const auto all = reclaim(arguments, *desk, *filter);
  if (!all) return complain(world, "reclaim", all.error().text, kExitNo);
  for (const Task& task : all->passed_over) {
    world.err.write(
        fmt::format("tend reclaim: {} is left to {}, which is kept and at work; --force "
                    "takes it all the same\n",
                    on_one_line(task.id), on_one_line(task.assignee.value_or(""))));
  }
  if (arguments.has("json")) {
    world.out.write(json_line({{"reclaimed", reclaimed_json(all->freed)},
                               {"count", all->freed.size()},
                               {"passed_over", reclaimed_json(all->passed_over)}}));
    return kExitYes;
  }
  const std::string_view would = arguments.has("dry-run") ? "would be " : "";
  for (const Task& task : all->freed) {
    world.out.write(
        fmt::format("{}: {}open again, was held by {}{}\n", on_one_line(task.id), would,
                    on_one_line(task.assignee.value_or("")),
                    task.heartbeat_message ? " -- " + on_one_line(*task.heartbeat_message) : ""));
  }
  if (all->freed.empty()) world.out.write("nothing to reclaim\n");
  return kExitYes;
}

}  // namespace tend
