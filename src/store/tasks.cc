// Every change reads the task and writes it back within one transaction of the only writer.
#include "store/tasks.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/quote.h"
#include "judge/words.h"
#include "store/home_database.h"
#include "store/json.h"

namespace tend {
namespace {

using Did = TaskAnswer::Did;

constexpr std::string_view kColumns =
    "id, title, status, assignee, context, created_at, updated_at, last_heartbeat, "
    "heartbeat_message, fence, lease_expires_at, worker, closed_at, close_reason, labels";
/// The same of a task in progress, from the index alone: what is the same for all of them, or not
/// there, is not looked up.
constexpr std::string_view kColumnsInProgress =
    "id, title, 'in_progress', assignee, context, created_at, updated_at, last_heartbeat, "
    "heartbeat_message, fence, lease_expires_at, worker, NULL, NULL, labels";
/// Room for so many is made before they are counted.
constexpr std::size_t kStaleAtOnce = 1024;
/// A label that more tasks have is looked for in the tasks, not the tasks by the label.
constexpr std::int64_t kManyTasks = 10'000;

std::optional<WallTime> time_or_none(const DatabaseRow& row, int column) {
  const auto number = row.number_or_none(column);
  return number ? std::optional(from_database_time(*number)) : std::nullopt;
}

DatabaseValue value_of(const std::optional<WallTime>& time) {
  return time ? DatabaseValue(database_time(*time)) : DatabaseValue();
}

DatabaseValue value_of(const std::optional<std::string>& text) {
  return text ? DatabaseValue(std::string_view(*text)) : DatabaseValue();
}

/// One a line.
std::vector<std::string> labels_of(std::string_view lines) {
  std::vector<std::string> labels;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    labels.emplace_back(lines.substr(0, end));
    lines.remove_prefix(end == lines.npos ? lines.size() : end + 1);
  }
  return labels;
}

void read_task(const DatabaseRow& row, Task& task) {
  task.id = row.text(0);
  task.title = row.text(1);
  task.status = row.text(2);
  task.assignee = row.text_or_none(3);
  task.context =
      from_word<TaskContext>(kTaskContextWords, row.text(4)).value_or(TaskContext::active);
  task.created_at = from_database_time(row.number(5));
  task.updated_at = from_database_time(row.number(6));
  task.last_heartbeat = time_or_none(row, 7);
  task.heartbeat_message = row.text_or_none(8);
  task.fence = row.number(9);
  task.lease_expires_at = time_or_none(row, 10);
  task.worker = row.text_or_none(11);
  task.closed_at = time_or_none(row, 12);
  task.close_reason = row.text_or_none(13);
  task.labels = labels_of(row.text(14));
}

Task task_of(const DatabaseRow& row) {
  Task task;
  read_task(row, task);
  return task;
}

/// A condition and the values that stand for its question marks.
struct Condition {
  std::vector<std::string> all{"1"};
  std::vector<DatabaseValue> values;

  void also(std::string text) { all.push_back(std::move(text)); }
  void also(std::string text, DatabaseValue value) {
    also(std::move(text));
    values.push_back(value);
  }
  [[nodiscard]] std::string text() const { return fmt::format("{}", fmt::join(all, " AND ")); }
};

constexpr std::string_view kHasLabel =
    "EXISTS (SELECT 1 FROM labels WHERE task = id AND label = ?)";
constexpr std::string_view kIsLabelled = "id IN (SELECT task FROM labels WHERE label = ?)";

/// `rare` is a label by which the tasks are found.
void ask_for_labels(const TaskFilter& filter, const std::string* rare, Condition& condition) {
  for (const std::string& label : filter.labels) {
    condition.also(std::string(&label == rare ? kIsLabelled : kHasLabel), std::string_view(label));
  }
  for (const std::string& label : filter.without_labels) {
    condition.also(fmt::format("NOT {}", kHasLabel), std::string_view(label));
  }
  if (filter.any_label.empty()) return;
  const std::vector<std::string_view> each(filter.any_label.size(), kHasLabel);
  condition.also(fmt::format("({})", fmt::join(each, " OR ")));
  for (const std::string& label : filter.any_label) {
    condition.values.emplace_back(std::string_view(label));
  }
}

Condition condition_of(const TaskFilter& filter, const std::string* rare) {
  Condition condition;
  if (filter.id) condition.also("id = ?", std::string_view(*filter.id));
  if (filter.status) condition.also("status = ?", std::string_view(*filter.status));
  if (filter.assignee) condition.also("assignee = ?", std::string_view(*filter.assignee));
  if (filter.unassigned) condition.also("assignee IS NULL");
  if (filter.not_closed) condition.also("status <> ?", kClosed);
  if (filter.updated_before) {
    condition.also("updated_at < ?", database_time(*filter.updated_before));
  }
  if (filter.updated_after) {
    condition.also("updated_at > ?", database_time(*filter.updated_after));
  }
  ask_for_labels(filter, rare, condition);
  return condition;
}

bool is_held(const Task& task) { return task.status == kInProgress && task.assignee.has_value(); }

/// Why `worker` is not the holder; done if it is.
Did holder_check(const Task& task, const Worker& worker) {
  if (!is_held(task)) return task.status == kClosed ? Did::not_claimable : Did::not_claimed;
  if (task.assignee != worker.name) return Did::held_by_other;
  if (worker.fence && *worker.fence != task.fence) return Did::lost;
  return Did::done;
}

void let_go(Task& task) {
  task.assignee.reset();
  task.lease_expires_at.reset();
  task.worker.reset();
}

}  // namespace

Result<void> check_task_word(std::string_view what, std::string_view word, std::size_t most) {
  if (word.empty()) return fail(fmt::format("{} is empty", what));
  if (word.size() > most) {
    return fail(fmt::format("{} is longer than {} bytes", what, most));
  }
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(word, is_control) || !is_utf8(word)) {
    return fail(fmt::format("{} {} is not printable", what, in_quotes(word)));
  }
  if (word.front() == ' ' || word.back() == ' ') {
    return fail(fmt::format("{} {} begins or ends with a space", what, in_quotes(word)));
  }
  return {};
}

Result<void> check_task_id(std::string_view id) { return check_task_word("the id", id); }

// --- Reading ------------------------------------------------------------------------------------

Result<std::optional<Task>> Tasks::find(std::string_view id) {
  std::optional<Task> found;
  auto read = database_.each(fmt::format("SELECT {} FROM tasks WHERE id = ?", kColumns), {id},
                             [&](const DatabaseRow& row) { found = task_of(row); });
  if (!read) return std::unexpected(read.error());
  return found;
}

Result<std::vector<Task>> Tasks::list(const TaskFilter& filter, WallTime now) {
  if (filter.stale) return list_stale(filter, now);
  const auto rare = rare_label(filter);
  if (!rare) return std::unexpected(rare.error());
  Condition condition = condition_of(filter, *rare);
  condition.values.emplace_back(filter.most.value_or(-1));
  std::vector<Task> tasks;
  auto read = database_.each(
      fmt::format("SELECT {} FROM tasks WHERE {} ORDER BY created_at, id LIMIT ?", kColumns,
                  condition.text()),
      condition.values, [&](const DatabaseRow& row) { read_task(row, tasks.emplace_back()); });
  if (!read) return std::unexpected(read.error());
  return tasks;
}

Result<const std::string*> Tasks::rare_label(const TaskFilter& filter) {
  for (const std::string& label : filter.labels) {
    std::int64_t count = 0;
    auto counted =
        database_.each("SELECT count(*) FROM (SELECT 1 FROM labels WHERE label = ? LIMIT ?)",
                       {std::string_view(label), kManyTasks},
                       [&](const DatabaseRow& row) { count = row.number(0); });
    if (!counted) return std::unexpected(counted.error());
    if (count < kManyTasks) return &label;
  }
  return nullptr;
}

/// Nobody is missed where nobody is at work, so without a status it is the tasks in progress that
/// are meant. They are one range of their index, in the order that is wanted; it ends where the
/// most impatient context does, and the others leave out what is beyond their own.
Result<std::vector<Task>> Tasks::list_stale(TaskFilter filter, WallTime now) {
  const bool at_work = !filter.status || *filter.status == kInProgress;
  if (at_work) filter.status.reset();
  const auto before = [&](TaskContext context) {
    return database_time(now - filter.stale_for.value_or(limits_.of(context)));
  };
  const std::array<std::int64_t, kTaskContexts> ends{
      before(TaskContext::active), before(TaskContext::overnight), before(TaskContext::critical)};
  Condition condition = condition_of(filter, nullptr);
  // By name and not by value: the index holds none but these.
  if (at_work) condition.also("status = 'in_progress'");
  condition.also("coalesce(last_heartbeat, updated_at) < ?", std::ranges::max(ends));
  // Most are beyond every limit, and need not be asked for their context.
  condition.also(
      "(coalesce(last_heartbeat, updated_at) < ? OR coalesce(last_heartbeat, updated_at) < "
      "CASE context WHEN 'overnight' THEN ? WHEN 'critical' THEN ? ELSE ? END)",
      std::ranges::min(ends));
  for (const std::size_t i : {1U, 2U, 0U}) condition.values.emplace_back(ends.at(i));
  condition.values.emplace_back(filter.most.value_or(-1));
  std::vector<Task> tasks;
  tasks.reserve(kStaleAtOnce);
  auto read = database_.each(
      fmt::format("SELECT {} FROM tasks {} WHERE {} "
                  "ORDER BY coalesce(last_heartbeat, updated_at), id LIMIT ?",
                  at_work ? kColumnsInProgress : kColumns,
                  at_work ? "INDEXED BY tasks_in_progress" : "", condition.text()),
      condition.values, [&](const DatabaseRow& row) { read_task(row, tasks.emplace_back()); });
  if (!read) return std::unexpected(read.error());
  return tasks;
}

// --- Changing -----------------------------------------------------------------------------------

Result<void> Tasks::write(const Task& task) {
  const std::string labels = fmt::format("{}", fmt::join(task.labels, "\n"));
  const std::array<DatabaseValue, 15> values{
      std::string_view(task.id),
      std::string_view(task.title),
      std::string_view(task.status),
      value_of(task.assignee),
      kTaskContextWords.at(static_cast<std::size_t>(task.context)),
      database_time(task.created_at),
      database_time(task.updated_at),
      value_of(task.last_heartbeat),
      value_of(task.heartbeat_message),
      task.fence,
      value_of(task.lease_expires_at),
      value_of(task.worker),
      value_of(task.closed_at),
      value_of(task.close_reason),
      std::string_view(labels)};
  const auto written = database_.run(
      fmt::format("INSERT INTO tasks({}) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) "
                  "ON CONFLICT(id) DO UPDATE SET title=excluded.title, status=excluded.status, "
                  "assignee=excluded.assignee, context=excluded.context, "
                  "updated_at=excluded.updated_at, last_heartbeat=excluded.last_heartbeat, "
                  "heartbeat_message=excluded.heartbeat_message, fence=excluded.fence, "
                  "lease_expires_at=excluded.lease_expires_at, worker=excluded.worker, "
                  "closed_at=excluded.closed_at, close_reason=excluded.close_reason, "
                  "labels=excluded.labels",
                  kColumns),
      values);
  if (!written) return std::unexpected(written.error());
  return {};
}

Result<void> Tasks::write_labels(const std::string& id, const std::vector<std::string>& before,
                                 const std::vector<std::string>& after) {
  const auto has = [](const std::vector<std::string>& all, const std::string& one) {
    return std::ranges::find(all, one) != all.end();
  };
  for (const std::string& label : before) {
    if (has(after, label)) continue;
    auto gone = database_.run("DELETE FROM labels WHERE task = ? AND label = ?",
                              {std::string_view(id), std::string_view(label)});
    if (!gone) return std::unexpected(gone.error());
  }
  for (const std::string& label : after) {
    if (has(before, label)) continue;
    auto put = database_.run("INSERT INTO labels(task, label) VALUES(?, ?)",
                             {std::string_view(id), std::string_view(label)});
    if (!put) return std::unexpected(put.error());
  }
  return {};
}

Result<TaskAnswer> Tasks::with(std::string_view id, const Change& change) {
  TaskAnswer answer;
  auto changed = database_.change([&]() -> Result<void> {
    auto found = find(id);
    if (!found) return std::unexpected(found.error());
    if (!*found) {
      answer.did = Did::no_such_task;
      return {};
    }
    answer.task = *std::move(*found);
    const std::vector<std::string> labels = answer.task.labels;
    const auto did = change(answer.task);
    if (!did) return std::unexpected(did.error());
    answer.did = *did;
    if (answer.did != Did::done) return {};
    if (auto written = write(answer.task); !written) return written;
    return write_labels(answer.task.id, labels, answer.task.labels);
  });
  if (!changed) return std::unexpected(changed.error());
  return answer;
}

Result<TaskAnswer> Tasks::add(const Task& task, WallTime now) {
  TaskAnswer answer;
  auto changed = database_.change([&]() -> Result<void> {
    auto found = find(task.id);
    if (!found) return std::unexpected(found.error());
    if (*found) {
      answer = {.did = Did::exists_already, .task = *std::move(*found)};
      return {};
    }
    answer.task = task;
    answer.task.created_at = now;
    answer.task.updated_at = now;
    auto& labels = answer.task.labels;
    std::ranges::sort(labels);
    const auto [twice, end] = std::ranges::unique(labels);
    labels.erase(twice, end);
    if (auto written = write(answer.task); !written) return written;
    return write_labels(task.id, {}, labels);
  });
  if (!changed) return std::unexpected(changed.error());
  return answer;
}

Result<TaskAnswer> Tasks::claim(std::string_view id, const Worker& worker, WallTime now) {
  return with(id, [&](Task& task) -> Result<Did> {
    if (task.status != kOpen && task.status != kInProgress) return Did::not_claimable;
    if (task.assignee && task.assignee != worker.name) return Did::held_by_other;
    const bool holds = is_held(task);
    if (holds && worker.fence && *worker.fence != task.fence) return Did::lost;
    task.lease_expires_at = now + limits_.of(task.context);
    task.worker = worker.folder;
    if (holds) return Did::done;
    task.assignee = worker.name;
    task.status = kInProgress;
    task.updated_at = now;
    task.last_heartbeat.reset();
    task.heartbeat_message.reset();
    ++task.fence;
    return Did::done;
  });
}

/// In one statement, because beats are most of what is written; and without waiting for the disk,
/// because the next one makes up for one that a power cut took. Who is not the holder hears why.
Result<TaskAnswer> Tasks::beat(std::string_view id, const Worker& worker,
                               const std::optional<std::string>& message, WallTime now) {
  // The calendar may have been set back: a sign is never older than the one before.
  const std::string sql = fmt::format(
      "UPDATE tasks SET last_heartbeat = max(?2, coalesce(last_heartbeat, ?2)), "
      "lease_expires_at = ?2 + CASE context WHEN 'overnight' THEN ?4 WHEN 'critical' THEN ?5 "
      "ELSE ?3 END, heartbeat_message = iif(?6, nullif(?7, ''), heartbeat_message) "
      "WHERE id = ?1 AND status = 'in_progress' AND assignee = ?8 "
      "AND fence = coalesce(?9, fence) RETURNING {}",
      kColumns);
  std::optional<Task> beaten;
  const bool promised = database_.set_durable(false);
  const auto done = database_.each(
      sql,
      {id, database_time(now), limits_.of(TaskContext::active).count(),
       limits_.of(TaskContext::overnight).count(), limits_.of(TaskContext::critical).count(),
       std::int64_t{message ? 1 : 0}, value_of(message), std::string_view(worker.name),
       value_or_null(worker.fence)},
      [&](const DatabaseRow& row) { beaten = task_of(row); });
  database_.set_durable(promised);
  if (!done) return std::unexpected(done.error());
  if (beaten) return TaskAnswer{.did = Did::done, .task = *std::move(beaten)};
  return why_not_beaten(id, worker);
}

Result<TaskAnswer> Tasks::why_not_beaten(std::string_view id, const Worker& worker) {
  auto found = find(id);
  if (!found) return std::unexpected(found.error());
  if (!*found) return TaskAnswer{.did = Did::no_such_task, .task = {}};
  TaskAnswer answer{.did = holder_check(**found, worker), .task = *std::move(*found)};
  // It became the holder's between the two: to it, that was after its beat.
  if (answer.did == Did::done) answer.did = Did::not_claimed;
  return answer;
}

Result<TaskAnswer> Tasks::release(std::string_view id, const Worker& worker, WallTime now) {
  return with(id, [&](Task& task) -> Result<Did> {
    if (const Did why_not = holder_check(task, worker); why_not != Did::done) return why_not;
    let_go(task);
    task.status = kOpen;
    task.updated_at = now;
    return Did::done;
  });
}

Result<TaskAnswer> Tasks::close(std::string_view id, const Worker& worker,
                                const std::optional<std::string>& reason, bool by_force,
                                WallTime now) {
  return with(id, [&](Task& task) -> Result<Did> {
    if (task.status == kClosed) return Did::as_before;
    if (is_held(task) && !by_force) {
      if (const Did why_not = holder_check(task, worker); why_not != Did::done) return why_not;
    } else if (worker.fence && !by_force) {
      return Did::not_claimed;  // it held it once, and somebody took that back
    }
    task.status = kClosed;
    task.lease_expires_at.reset();
    task.closed_at = now;
    task.close_reason = reason;
    task.updated_at = now;
    return Did::done;
  });
}

Result<TaskAnswer> Tasks::reopen(std::string_view id, WallTime now) {
  return with(id, [&](Task& task) -> Result<Did> {
    if (task.status != kClosed) return Did::as_before;
    let_go(task);
    task.status = kOpen;
    task.closed_at.reset();
    task.close_reason.reset();
    task.updated_at = now;
    return Did::done;
  });
}

Result<TaskAnswer> Tasks::update(std::string_view id, const TaskWish& wish, WallTime now) {
  return with(id, [&](Task& task) -> Result<Did> {
    if (wish.if_fence && *wish.if_fence != task.fence) return Did::lost;
    const Task before = task;
    if (wish.title) task.title = *wish.title;
    if (wish.context) task.context = *wish.context;
    if (wish.status) task.status = *wish.status;
    if (wish.assignee) {
      task.assignee = wish.assignee->empty() ? std::nullopt : wish.assignee;
    }
    // Whoever held it holds it no more: neither by another name nor in another state. And who is
    // made its holder is a new one, whatever an earlier one of that name knows.
    if (is_held(before) != is_held(task) || (is_held(task) && task.assignee != before.assignee)) {
      task.lease_expires_at.reset();
      task.worker.reset();
      ++task.fence;
      if (is_held(task)) {
        task.lease_expires_at = now + limits_.of(task.context);
        task.last_heartbeat.reset();
        task.heartbeat_message.reset();
      }
    }
    if (before.status == kClosed && task.status != kClosed) {
      task.closed_at.reset();
      task.close_reason.reset();
    } else if (before.status != kClosed && task.status == kClosed) {
      task.closed_at = now;
    }
    if (wish.labels) task.labels = *wish.labels;
    for (const std::string& label : wish.remove_labels) std::erase(task.labels, label);
    for (const std::string& label : wish.add_labels) {
      if (std::ranges::find(task.labels, label) == task.labels.end()) task.labels.push_back(label);
    }
    std::ranges::sort(task.labels);
    const auto doubled = std::ranges::unique(task.labels);
    task.labels.erase(doubled.begin(), doubled.end());
    const bool same = task.title == before.title && task.context == before.context &&
                      task.status == before.status && task.assignee == before.assignee &&
                      task.labels == before.labels;
    if (same) return Did::as_before;
    task.updated_at = now;
    return Did::done;
  });
}

Result<TaskAnswer> Tasks::reclaim(const Task& held, WallTime now) {
  return with(held.id, [&](Task& task) -> Result<Did> {
    const bool as_seen = is_held(task) && task.assignee == held.assignee &&
                         task.fence == held.fence && task.last_heartbeat == held.last_heartbeat;
    if (!as_seen) return Did::as_before;
    let_go(task);
    task.status = kOpen;
    task.updated_at = now;
    ++task.fence;
    return Did::done;
  });
}

}  // namespace tend
