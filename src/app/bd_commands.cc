// What is shared with `tend task` is in task_desk.h; here are the words of the other dialect.
#include "app/bd_commands.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/bd_view.h"
#include "app/heartbeat_letter.h"
#include "app/number_option.h"
#include "app/task_desk.h"
#include "app/task_view.h"
#include "base/calendar.h"
#include "base/quote.h"

namespace tend {
namespace {

using Did = TaskAnswer::Did;
using Json = nlohmann::ordered_json;
using Days = std::chrono::days;

/// The values of these options, each of which may be several with commas between them.
Arguments with_lists_split(Arguments arguments, std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    const auto found = arguments.options.find(name);
    if (found == arguments.options.end()) continue;
    std::vector<std::string> parts;
    for (const std::string& value : found->second) {
      std::string_view left = value;
      for (std::size_t comma = 0; (comma = left.find(',')) != left.npos;) {
        parts.emplace_back(left.substr(0, comma));
        left.remove_prefix(comma + 1);
      }
      parts.emplace_back(left);
    }
    found->second = std::move(parts);
  }
  return arguments;
}

constexpr std::array<std::string_view, 3> kLabelOptions{"label", "label-any", "exclude-label"};

/// By --actor, BEADS_ACTOR, BD_ACTOR, or as for `tend`.
Result<Worker> actor_of(const Arguments& arguments, World& world) {
  std::optional<std::string> name = arguments.value("actor");
  for (const char* variable : {"BEADS_ACTOR", "BD_ACTOR"}) {
    if (name) break;
    const auto value = world.environment.variable(variable);
    if (value && !value->empty()) name = value;
  }
  auto worker = worker_named(name, world);
  if (!worker) return worker;
  const auto fence = fence_option(arguments, "if-fence");
  if (!fence) return std::unexpected(fence.error());
  worker->fence = *fence;
  return worker;
}

void say(const Arguments& arguments, World& world, const std::string& line) {
  if (!arguments.has("quiet")) world.out.write(line + "\n");
}

bool went_well(const TaskAnswer& answer) {
  return answer.did == Did::done || answer.did == Did::as_before;
}

/// What is asked of each issue that is named, and what is said when it went well.
using Ask = std::function<Result<TaskAnswer>(Desk& desk, const std::string& id, const Worker&)>;
using Line = std::function<std::string(const TaskAnswer&)>;

/// Asks for one issue after the other. Those that went well are one array; exit 1 if one did not.
int ask_each(const Arguments& arguments, World& world, const Result<Worker>& worker, const Ask& ask,
             const Line& line) {
  if (!worker) return bd_fail(arguments, world, worker.error().text);
  auto desk = open_own_desk(world);
  if (!desk) return bd_fail(arguments, world, desk.error().text);
  Json changed = Json::array();
  int exit = kExitYes;
  for (const std::string& id : arguments.positionals) {
    const auto answer = ask(*desk, id, *worker);
    if (answer && went_well(*answer)) {
      changed.push_back(issue_json(answer->task));
      if (!arguments.has("json")) say(arguments, world, line(*answer));
      continue;
    }
    const std::string why = answer ? issue_refusal(*answer, id) : answer.error().text;
    // One thing on standard output: who asks for one issue gets its error there.
    const bool alone = arguments.positionals.size() == 1;
    exit = bd_fail(alone ? arguments : Arguments{}, world, why);
  }
  if (arguments.has("json") && (exit == kExitYes || !changed.empty())) {
    print_issue_json(world, std::move(changed));
  }
  return exit;
}

Result<void> check_if_given(std::string_view what, const std::optional<std::string>& text) {
  return text ? check_line(what, *text) : Result<void>{};
}

// --- Lists --------------------------------------------------------------------------------------

Result<std::optional<WallTime>> calendar_option(const Arguments& arguments, std::string_view name) {
  const auto text = arguments.value(name);
  if (!text) return std::nullopt;
  const auto at = parse_calendar(*text);
  if (at) return at;
  return fail(
      fmt::format("--{} wants a date (2026-01-03) or RFC 3339 (2026-01-03T12:00:00Z), "
                  "not {}",
                  name, in_quotes(*text)));
}

Result<TaskFilter> list_filter(const Arguments& arguments) {
  auto filter = filter_of(arguments);
  if (!filter) return filter;
  const auto stale_for = time_option(arguments, "heartbeat-stale");
  if (!stale_for) return std::unexpected(stale_for.error());
  const auto before = calendar_option(arguments, "updated-before");
  if (!before) return std::unexpected(before.error());
  const auto after = calendar_option(arguments, "updated-after");
  if (!after) return std::unexpected(after.error());
  filter->stale = arguments.has("heartbeat-stale");
  filter->stale_for = *stale_for;
  filter->updated_before = *before;
  filter->updated_after = *after;
  filter->not_closed = !arguments.has("all") && !filter->status;
  return filter;
}

/// The filter knows one status and one id; of several the list is looked through.
void keep_only(std::vector<Task>& tasks, std::string Task::* field,
               const std::vector<std::string>& wanted) {
  std::erase_if(tasks, [&](const Task& task) {
    return std::ranges::find(wanted, task.*field) == wanted.end();
  });
}

Result<std::vector<Task>> listed(const Arguments& arguments, Desk& desk, TaskFilter filter) {
  const auto statuses = arguments.values("status");
  const auto ids = arguments.values("id");
  if (statuses.size() > 1) filter.status.reset();
  if (ids.size() > 1) filter.id.reset();
  auto tasks = desk.list(filter);
  if (!tasks) return tasks;
  if (statuses.size() > 1) keep_only(*tasks, &Task::status, statuses);
  if (ids.size() > 1) keep_only(*tasks, &Task::id, ids);
  return tasks;
}

/// Cut after `most`, if that is not 0; what is left out is said to people.
void cut(std::vector<Task>& tasks, std::size_t most, World& world) {
  if (most == 0 || tasks.size() <= most) return;
  world.err.write(fmt::format("bd: {} of {} issues; --limit 0 shows all\n", most, tasks.size()));
  tasks.resize(most);
}

Json issues_json(const std::vector<Task>& tasks, bool stale, WallTime now) {
  Json all = Json::array();
  for (const Task& task : tasks) {
    const Duration silent = std::chrono::duration_cast<Duration>(now - task.last_sign());
    all.push_back(issue_json(task, stale ? std::optional(silent) : std::nullopt));
  }
  return all;
}

// --- Reclaiming ---------------------------------------------------------------------------------

Json reclaimed_json(const std::vector<Task>& tasks) {
  Json list = Json::array();
  for (const Task& task : tasks) {
    const std::string holder = task.assignee.value_or("");
    list.push_back({{"id", task.id}, {"previous_owner", holder}, {"previous_assignee", holder}});
  }
  return list;
}

void say_who_was_passed_over(World& world, const std::vector<Task>& tasks) {
  if (tasks.empty()) return;
  std::string names;
  for (const Task& task : tasks) names += (names.empty() ? "" : ", ") + on_one_line(task.id);
  world.err.write(fmt::format("bd reclaim: left {} issue(s) to kept agents that are at work: {}\n",
                              tasks.size(), names));
}

}  // namespace

int bd_heartbeat_command(const Arguments& arguments, World& world) {
  const std::string& id = arguments.positionals.front();
  auto message = arguments.value("message");
  if (message && message->empty()) message.reset();
  if (auto ok = check_if_given("--message", message); !ok) {
    return bd_fail(arguments, world, ok.error().text);
  }
  const auto worker = actor_of(arguments, world);
  if (!worker) return bd_fail(arguments, world, worker.error().text);
  auto desk = open_own_desk(world);
  if (!desk) return bd_fail(arguments, world, desk.error().text);
  const auto answer = desk->beat(id, *worker, message);
  if (!answer) return bd_fail(arguments, world, answer.error().text);
  if (!went_well(*answer)) return bd_fail(arguments, world, issue_refusal(*answer, id));
  if (worker->folder) tell_keeper(answer->task);
  if (arguments.has("notify")) {
    const std::string to = orchestrator_of(world.environment);
    const auto told =
        tell_orchestrator(*desk->database, to, {id, worker->name, message}, desk->now());
    if (!told) {
      return bd_fail(arguments, world,
                     fmt::format("the beat counts, but no letter was sent to {}: {}",
                                 on_one_line(to), told.error().text));
    }
  }
  if (arguments.has("json")) {
    Json json{{"id", id}, {"status", "heartbeat"}, {"owner", worker->name}};
    const Json issue = issue_json(answer->task);
    for (const char* field : {"last_heartbeat", "heartbeat_message", "lease_expires_at"}) {
      if (issue.contains(field)) json[field] = issue[field];
    }
    print_issue_json(world, std::move(json));
  } else {
    say(arguments, world, fmt::format("✓ Heartbeat {} (lease refreshed)", on_one_line(id)));
  }
  return kExitYes;
}

int bd_list_command(const Arguments& typed, World& world) {
  constexpr std::array<std::string_view, 2> kOthers{"status", "id"};
  const Arguments arguments = with_lists_split(with_lists_split(typed, kLabelOptions), kOthers);
  const auto filter = list_filter(arguments);
  if (!filter) return bd_fail(arguments, world, filter.error().text);
  const auto most = count_option(arguments, "limit", 0);
  if (!most) return bd_fail(arguments, world, most.error().text);
  auto desk = open_own_desk(world);
  if (!desk) return bd_fail(arguments, world, desk.error().text);
  auto tasks = listed(arguments, *desk, *filter);
  if (!tasks) return bd_fail(arguments, world, tasks.error().text);
  cut(*tasks, *most, world);
  const WallTime now = desk->now();
  if (arguments.has("json")) {
    print_issue_json(world, issues_json(*tasks, filter->stale, now));
  } else if (tasks->empty()) {
    say(arguments, world, "No issues found.");
  } else {
    world.out.write(listed_for_people(*tasks, world, now));
  }
  return kExitYes;
}

int bd_show_command(const Arguments& arguments, World& world) {
  WallTime now{};
  return ask_each(
      arguments, world, Worker{},
      [&](Desk& desk, const std::string& id, const Worker&) -> Result<TaskAnswer> {
        now = desk.now();
        auto task = desk.find(id);
        if (!task) return std::unexpected(task.error());
        if (!*task) return TaskAnswer{.did = Did::no_such_task, .task = {}};
        return TaskAnswer{.did = Did::as_before, .task = **std::move(task)};
      },
      [&](const TaskAnswer& answer) {
        std::string words = task_in_words(answer.task, now);
        words.pop_back();  // a line ends itself
        return words;
      });
}

int bd_create_command(const Arguments& typed, World& world) {
  constexpr std::array<std::string_view, 2> kLists{"labels", "label"};
  const Arguments arguments = with_lists_split(typed, kLists);
  auto desk = open_own_desk(world);
  if (!desk) return bd_fail(arguments, world, desk.error().text);
  Task task;
  task.title = arguments.positionals.front();
  task.id = arguments.value("id").value_or(made_id(desk->home.machine.entropy));
  task.assignee = arguments.value("assignee");
  if (task.assignee && task.assignee->empty()) task.assignee.reset();
  for (const std::string_view name : kLists) {
    const auto labels = arguments.values(name);
    task.labels.insert(task.labels.end(), labels.begin(), labels.end());
  }
  Result<void> ok = check_line("the title", task.title);
  if (ok) ok = check_task_id(task.id);
  if (ok) ok = check_words("a label", task.labels);
  if (ok && task.assignee) ok = check_task_word("the assignee", *task.assignee);
  if (!ok) return bd_fail(arguments, world, ok.error().text);
  const auto answer = desk->add(task);
  if (!answer) return bd_fail(arguments, world, answer.error().text);
  if (!went_well(*answer)) return bd_fail(arguments, world, issue_refusal(*answer, task.id));
  if (arguments.has("json")) {
    print_issue_json(world, issue_json(answer->task));
  } else if (arguments.has("silent")) {
    world.out.write(on_one_line(task.id) + "\n");
  } else {
    say(arguments, world,
        fmt::format("✓ Created issue: {}\n  Status: {}", issue_name(answer->task),
                    on_one_line(answer->task.status)));
  }
  return kExitYes;
}

int bd_update_command(const Arguments& typed, World& world) {
  constexpr std::array<std::string_view, 3> kLists{"set-labels", "add-label", "remove-label"};
  const Arguments arguments = with_lists_split(typed, kLists);
  TaskWish wish;
  wish.title = arguments.value("title");
  wish.status = arguments.value("status");
  wish.assignee = arguments.value("assignee");
  wish.add_labels = arguments.values("add-label");
  wish.remove_labels = arguments.values("remove-label");
  if (arguments.has("set-labels")) wish.labels = arguments.values("set-labels");
  if (wish.labels == std::vector<std::string>{""}) wish.labels->clear();  // none at all
  const bool claims = arguments.has("claim");
  const bool changes = wish.title || wish.status || wish.assignee || wish.labels ||
                       !wish.add_labels.empty() || !wish.remove_labels.empty();
  if (!claims && !changes) {
    say(arguments, world, "No updates specified");
    return kExitYes;
  }
  Result<void> ok = check_if_given("--title", wish.title);
  if (ok && wish.status) ok = check_task_word("--status", *wish.status);
  if (ok && wish.assignee && !wish.assignee->empty()) {
    ok = check_task_word("--assignee", *wish.assignee);
  }
  if (ok && wish.labels) ok = check_words("--set-labels", *wish.labels);
  if (ok) ok = check_words("--add-label", wish.add_labels);
  if (ok) ok = check_words("--remove-label", wish.remove_labels);
  if (!ok) return bd_fail(arguments, world, ok.error().text);
  return ask_each(
      arguments, world, actor_of(arguments, world),
      [&](Desk& desk, const std::string& id, const Worker& worker) -> Result<TaskAnswer> {
        if (claims) {
          auto claimed = desk.claim(id, worker);
          if (!claimed || !went_well(*claimed) || !changes) return claimed;
        }
        TaskWish now = wish;
        if (!claims) now.if_fence = worker.fence;
        return desk.update(id, now);
      },
      [](const TaskAnswer& answer) {
        return fmt::format("✓ Updated issue: {}", issue_name(answer.task));
      });
}

int bd_close_command(const Arguments& arguments, World& world) {
  auto reason = arguments.value("reason");
  if (!reason || reason->empty()) reason = "Closed";
  if (auto ok = check_if_given("--reason", reason); !ok) {
    return bd_fail(arguments, world, ok.error().text);
  }
  return ask_each(
      arguments, world, actor_of(arguments, world),
      [&](Desk& desk, const std::string& id, const Worker& worker) {
        return desk.close(id, worker, reason, arguments.has("force"));
      },
      [&](const TaskAnswer& answer) {
        return fmt::format("✓ Closed {}: {}", issue_name(answer.task),
                           on_one_line(answer.task.close_reason.value_or(*reason)));
      });
}

int bd_reopen_command(const Arguments& arguments, World& world) {
  const std::string reason = arguments.value("reason").value_or("");
  return ask_each(
      arguments, world, actor_of(arguments, world),
      [](Desk& desk, const std::string& id, const Worker&) { return desk.reopen(id); },
      [&](const TaskAnswer& answer) {
        const std::string id = on_one_line(answer.task.id);
        if (answer.did == Did::as_before) {
          return fmt::format("{} is {} already", id, on_one_line(answer.task.status));
        }
        return fmt::format("↻ Reopened {}{}", id, reason.empty() ? "" : ": " + on_one_line(reason));
      });
}

int bd_reclaim_command(const Arguments& typed, World& world) {
  const Arguments arguments = with_lists_split(typed, kLabelOptions);
  auto filter = filter_of(arguments);
  if (!filter) return bd_fail(arguments, world, filter.error().text);
  const auto older = time_option(arguments, "older-than");
  if (!older) return bd_fail(arguments, world, older.error().text);
  filter->status = std::string(kInProgress);
  filter->stale = true;
  filter->stale_for = older->value_or(kReclaimedAfter);
  auto desk = open_own_desk(world);
  if (!desk) return bd_fail(arguments, world, desk.error().text);
  const auto all = reclaim(arguments, *desk, *filter);
  if (!all) return bd_fail(arguments, world, all.error().text);
  say_who_was_passed_over(world, all->passed_over);
  const bool scoped = filter->id || filter->assignee || !filter->labels.empty() ||
                      !filter->any_label.empty() || !filter->without_labels.empty();
  if (arguments.has("json")) {
    print_issue_json(world, {{"reclaimed", reclaimed_json(all->freed)},
                             {"count", all->freed.size()},
                             {"scoped", scoped}});
    return kExitYes;
  }
  if (all->freed.empty()) {
    say(arguments, world, "✓ No stale leases to reclaim");
    return kExitYes;
  }
  say(arguments, world,
      fmt::format("✓ {} {} stale-lease issue(s):",
                  arguments.has("dry-run") ? "Would reclaim" : "Reclaimed", all->freed.size()));
  for (const Task& task : all->freed) {
    say(arguments, world,
        fmt::format("  {} (was {})", issue_name(task), on_one_line(task.assignee.value_or(""))));
  }
  return kExitYes;
}

int bd_stale_command(const Arguments& typed, World& world) {
  constexpr std::size_t kUsualDays = 30;
  constexpr std::size_t kMostDays = 36'500;  // the calendar begins in 1970
  constexpr std::size_t kUsualMost = 50;
  const Arguments arguments = with_lists_split(typed, kLabelOptions);
  auto filter = filter_of(arguments);
  if (!filter) return bd_fail(arguments, world, filter.error().text);
  const auto days = count_option(arguments, "days", kUsualDays);
  if (!days) return bd_fail(arguments, world, days.error().text);
  if (*days < 1) return bd_fail(arguments, world, "--days must be at least 1");
  const auto most = count_option(arguments, "limit", kUsualMost);
  if (!most) return bd_fail(arguments, world, most.error().text);
  auto desk = open_own_desk(world);
  if (!desk) return bd_fail(arguments, world, desk.error().text);
  const WallTime now = desk->now();
  filter->updated_before = std::max(now - Days{std::min(*days, kMostDays)}, WallTime{});
  filter->not_closed = !filter->status;
  auto tasks = desk->list(*filter);
  if (!tasks) return bd_fail(arguments, world, tasks.error().text);
  std::ranges::sort(*tasks, [](const Task& a, const Task& b) {
    return std::pair(a.updated_at, std::string_view(a.id)) <
           std::pair(b.updated_at, std::string_view(b.id));
  });
  cut(*tasks, *most, world);
  if (arguments.has("json")) {
    print_issue_json(world, issues_json(*tasks, false, now));
    return kExitYes;
  }
  if (tasks->empty()) {
    say(arguments, world, "✨ No stale issues found (all active)");
    return kExitYes;
  }
  say(arguments, world,
      fmt::format("⏰ Stale issues ({} not updated in {}+ days):", tasks->size(), *days));
  for (const Task& task : *tasks) {
    say(arguments, world,
        fmt::format("  {} ({}, last updated {} days ago)", issue_name(task),
                    on_one_line(task.status), (now - task.updated_at) / Days{1}));
  }
  return kExitYes;
}

}  // namespace tend
