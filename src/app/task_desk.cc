// One place where it is decided who has the tasks, and what a command may ask of them.
#include "app/task_desk.h"

#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/actor.h"
#include "app/await.h"
#include "app/columns.h"
#include "app/look.h"
#include "app/number_option.h"
#include "app/when.h"
#include "base/quote.h"
#include "client/tend.h"
#include "run/hire.h"
#include "store/config_file.h"
#include "store/home.h"
#include "store/json.h"

namespace tend {
namespace {

using Did = TaskAnswer::Did;

/// The `bd` that has the tasks; empty: the home has them.
Result<std::vector<std::string>> configured_beads(World& world) {
  const auto path = default_config_path(world.environment);
  if (!path) return std::vector<std::string>{};
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  const auto there = world.files.read(*path, kMostBytes);
  if (there && !*there) return std::vector<std::string>{};
  auto config = load_config(*path, world.files);
  if (config) return std::move(config->beads);
  return fail(fmt::format("{}; who has the tasks is in there", describe(config.error().front())));
}

template <class Ask>
Result<TaskAnswer> answer_to(Desk& desk, Ask ask) {
  return await<TaskAnswer>(desk.home.machine, std::move(ask));
}

std::unexpected<Error> only_it_can(const Desk& desk, std::string_view what) {
  return fail(fmt::format("the tasks of this home are with {0}: `{0} {1}` does that",
                          desk.beads_name, what));
}

/// A kept agent that is at work: its beats fail, and not its work.
bool is_at_work(const Desk& desk, const Task& task) {
  if (!task.worker && !task.assignee) return false;
  const auto known = find_agent(desk.home.machine.folders, *desk.home.folder,
                                task.worker ? *task.worker : *task.assignee);
  if (!known) return false;
  // What cannot be read may be at work.
  if (!known->problem.empty()) {
    return known->folder && has_keeper(desk.home.machine, *known->folder);
  }
  if (is_terminal(known->heartbeat.status)) return false;
  // A name is found by its beginning, too; that is another's.
  if (!task.worker && known->heartbeat.agent != *task.assignee) return false;
  const Verdict verdict = known->heartbeat.verdict;
  const bool works = verdict == Verdict::starting || verdict == Verdict::working ||
                     verdict == Verdict::waiting || verdict == Verdict::suspect ||
                     verdict == Verdict::unknown;
  return works && has_keeper(desk.home.machine, *known->folder);
}

}  // namespace

// --- Where the tasks are ------------------------------------------------------------------------

Result<Desk> open_own_desk(World& world) {
  auto records = open_home_records(world);
  if (!records) return std::unexpected(records.error());
  Tasks tasks(*records->database, TaskLimits{});
  return Desk{*std::move(records), tasks, nullptr, {}};
}

Result<Desk> open_desk(World& world) {
  auto beads = configured_beads(world);
  if (!beads) return std::unexpected(beads.error());
  auto desk = open_own_desk(world);
  if (!desk || beads->empty()) return desk;
  desk->beads_name = on_one_line(beads->front());
  desk->beads = beads_work_items(desk->home.machine, *std::move(beads));
  return desk;
}

Result<std::optional<Task>> Desk::find(const std::string& id) {
  if (!beads) return own.find(id);
  auto answer = answer_to(*this, [&](auto answered) { return beads->find(id, answered); });
  if (!answer) return std::unexpected(answer.error());
  if (answer->did == Did::no_such_task) return std::nullopt;
  return std::move(answer->task);
}

Result<std::vector<Task>> Desk::list(const TaskFilter& filter) {
  if (!beads) return own.list(filter, now());
  return await<std::vector<Task>>(home.machine,
                                  [&](auto listed) { return beads->list(filter, listed); });
}

Result<TaskAnswer> Desk::claim(const std::string& id, const Worker& worker) {
  if (!beads) return own.claim(id, worker, now());
  return answer_to(*this, [&](auto answered) { return beads->claim(id, worker, answered); });
}

Result<TaskAnswer> Desk::beat(const std::string& id, const Worker& worker,
                              const std::optional<std::string>& message) {
  if (!beads) return own.beat(id, worker, message, now());
  auto answer =
      answer_to(*this, [&](auto answered) { return beads->beat(id, worker, message, answered); });
  if (!answer || answer->did != Did::done) return answer;
  // It says little of a beat: what it made of it is asked for.
  if (auto now_is = find(id); now_is && *now_is) answer->task = **std::move(now_is);
  return answer;
}

Result<TaskAnswer> Desk::release(const std::string& id, const Worker& worker) {
  if (!beads) return own.release(id, worker, now());
  return answer_to(*this, [&](auto answered) { return beads->release(id, worker, answered); });
}

Result<TaskAnswer> Desk::close(const std::string& id, const Worker& worker,
                               const std::optional<std::string>& reason, bool by_force) {
  if (!beads) return own.close(id, worker, reason, by_force, now());
  if (by_force) return only_it_can(*this, "close --force");
  return answer_to(*this,
                   [&](auto answered) { return beads->close(id, worker, reason, answered); });
}

Result<TaskAnswer> Desk::reclaim(const Task& held) {
  if (!beads) return own.reclaim(held, now());
  return answer_to(*this, [&](auto answered) { return beads->reclaim(held, answered); });
}

Result<TaskAnswer> Desk::add(const Task& task) {
  return beads ? only_it_can(*this, "create") : own.add(task, now());
}

Result<TaskAnswer> Desk::reopen(const std::string& id) {
  return beads ? only_it_can(*this, "reopen") : own.reopen(id, now());
}

Result<TaskAnswer> Desk::update(const std::string& id, const TaskWish& wish) {
  return beads ? only_it_can(*this, "update") : own.update(id, wish, now());
}

// --- Who comes ----------------------------------------------------------------------------------

Result<Worker> worker_named(const std::optional<std::string>& typed, World& world) {
  auto actor = actor_or_else(typed, world);
  if (!actor) return std::unexpected(actor.error());
  return Worker{
      .name = std::move(actor->name), .folder = std::move(actor->folder), .fence = std::nullopt};
}

Result<std::optional<std::int64_t>> fence_option(const Arguments& arguments,
                                                 std::string_view name) {
  const auto text = arguments.value(name);
  if (!text) return std::nullopt;
  const auto number = number_from_1(*text, fmt::format("--{} wants the number of a claim", name));
  if (!number) return std::unexpected(number.error());
  return *number;
}

void tell_keeper(const Task& task) {
  const std::unique_ptr<tend_client, void (*)(tend_client*)> client(tend_open(), tend_close);
  if (!client) return;
  const nlohmann::ordered_json line{{"is", "task"}, {"task", task.id}, {"event", "beat"}};
  std::ignore = tend_signal(client.get(), line.dump().c_str());
}

// --- What they say ------------------------------------------------------------------------------

std::string made_id(Entropy& entropy) {
  constexpr std::string_view kLetters = "0123456789abcdefghijkmnpqrstuvwxyz";
  constexpr int kLength = 6;
  std::uint64_t number = entropy.number();
  std::string id = "t-";
  for (int i = 0; i < kLength; ++i) {
    id += kLetters[number % kLetters.size()];
    number /= kLetters.size();
  }
  return id;
}

Result<void> check_words(std::string_view what, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (auto ok = check_task_word(what, word); !ok) return ok;
  }
  return {};
}

Result<void> check_line(std::string_view what, const std::string& text) {
  constexpr std::size_t kLongestLine = 1000;
  if (text.empty()) return fail(fmt::format("{} is empty", what));
  if (text.size() > kLongestLine) {
    return fail(fmt::format("{} is longer than {} bytes", what, kLongestLine));
  }
  if (!is_utf8(text)) return fail(fmt::format("{} is not UTF-8", what));
  return {};
}

Result<TaskFilter> filter_of(const Arguments& arguments) {
  TaskFilter filter;
  for (const std::string_view name :
       {"id", "status", "assignee", "label", "label-any", "exclude-label"}) {
    if (auto ok = check_words("--" + std::string(name), arguments.values(name)); !ok) {
      return std::unexpected(ok.error());
    }
  }
  filter.id = arguments.value("id");
  filter.status = arguments.value("status");
  filter.assignee = arguments.value("assignee");
  filter.labels = arguments.values("label");
  filter.any_label = arguments.values("label-any");
  filter.without_labels = arguments.values("exclude-label");
  filter.unassigned = arguments.has("no-assignee");
  return filter;
}

Result<Reclaimed> reclaim(const Arguments& arguments, Desk& desk, const TaskFilter& filter) {
  Reclaimed all;
  const auto stale = desk.list(filter);
  if (!stale) return std::unexpected(stale.error());
  for (const Task& task : *stale) {
    if (!arguments.has("force") && is_at_work(desk, task)) {
      all.passed_over.push_back(task);
      continue;
    }
    if (!arguments.has("dry-run")) {
      const auto answer = desk.reclaim(task);
      if (!answer) return std::unexpected(answer.error());
      if (answer->did != Did::done) continue;  // it was heard of meanwhile
    }
    all.freed.push_back(task);
  }
  return all;
}

std::string listed_for_people(const std::vector<Task>& tasks, World& world, WallTime now) {
  Columns columns({{"TASK"}, {"STATUS"}, {"ASSIGNEE"}, {"SIGN", true}, {"WHAT"}});
  for (const Task& task : tasks) {
    const bool is_held = task.status == kInProgress;
    std::string what = on_one_line(task.title);
    if (task.heartbeat_message) what += " -- " + on_one_line(*task.heartbeat_message);
    columns.add({{on_one_line(task.id)},
                 {on_one_line(task.status)},
                 {on_one_line(task.assignee.value_or("-"))},
                 {is_held ? age_label(task.last_sign(), now) : "-"},
                 {what}});
  }
  return columns.text(Look(world.out, world.environment), screen_width(world.out));
}

}  // namespace tend
