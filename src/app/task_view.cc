// Times of tasks are written as RFC 3339, as the protocol they come from has them.
#include "app/task_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "app/when.h"
#include "base/duration.h"
#include "base/quote.h"

namespace tend {
namespace {

using Did = TaskAnswer::Did;
using Json = nlohmann::ordered_json;

Json time_json(const std::optional<WallTime>& at) { return at ? Json(rfc3339(*at)) : Json(); }
Json text_json(const std::optional<std::string>& text) { return text ? Json(*text) : Json(); }

std::string_view context_word(TaskContext context) {
  return kTaskContextWords.at(static_cast<std::size_t>(context));
}

Duration age_of(WallTime then, WallTime now) {
  return std::max(std::chrono::duration_cast<Duration>(now - then), Duration::zero());
}

std::string holder_of(const Task& task, WallTime now) {
  return fmt::format("{} (claim {}, last sign {} ago)",
                     on_one_line(task.assignee.value_or("nobody")), task.fence,
                     short_age(age_of(task.last_sign(), now)));
}

}  // namespace

std::string rfc3339(WallTime at) { return date_label(at) + "T" + clock_label(at) + "Z"; }

Json task_json(const Task& task, std::optional<Duration> stale_for) {
  Json json{{"id", task.id},
            {"title", task.title},
            {"status", task.status},
            {"assignee", text_json(task.assignee)},
            {"context", context_word(task.context)},
            {"labels", task.labels},
            {"created_at", rfc3339(task.created_at)},
            {"updated_at", rfc3339(task.updated_at)},
            {"last_heartbeat", time_json(task.last_heartbeat)},
            {"heartbeat_message", text_json(task.heartbeat_message)},
            {"fence", task.fence},
            {"lease_expires_at", time_json(task.lease_expires_at)},
            {"closed_at", time_json(task.closed_at)},
            {"close_reason", text_json(task.close_reason)}};
  if (stale_for) {
    json["stale_seconds"] = std::chrono::duration_cast<std::chrono::seconds>(*stale_for).count();
  }
  return json;
}

Json task_of_agent_json(const Task& task) {
  return {{"id", task.id},
          {"status", task.status.empty() ? Json() : Json(task.status)},
          {"assignee", text_json(task.assignee)},
          {"last_heartbeat", time_json(task.last_heartbeat)},
          {"heartbeat_message", text_json(task.heartbeat_message)}};
}

std::string task_of_agent(const Task& task, WallTime now) {
  std::string words = on_one_line(task.id);
  if (task.heartbeat_message) words += ": " + on_one_line(*task.heartbeat_message);
  if (task.last_heartbeat) {
    const std::string age = short_age(age_of(*task.last_heartbeat, now));
    words += task.heartbeat_message ? fmt::format(" ({} ago)", age)
                                    : fmt::format(", heard of {} ago", age);
  }
  return words;
}

std::string task_in_words(const Task& task, WallTime now) {
  std::string words = fmt::format("{}  {}\n", on_one_line(task.id), on_one_line(task.title));
  const auto line = [&](std::string_view name, const std::string& text) {
    words += fmt::format("  {:<10}{}\n", name, text);
  };
  line("status", on_one_line(task.status));
  line("context", std::string(context_word(task.context)));
  if (task.assignee) line(task.status == kInProgress ? "held by" : "for", holder_of(task, now));
  if (task.heartbeat_message) line("says", on_one_line(*task.heartbeat_message));
  if (!task.labels.empty()) line("labels", fmt::format("{}", fmt::join(task.labels, ", ")));
  line("changed", short_age(age_of(task.updated_at, now)) + " ago");
  if (task.close_reason && !task.close_reason->empty()) {
    line("closed", on_one_line(*task.close_reason));
  }
  return words;
}

std::string why_not(const TaskAnswer& answer, std::string_view id, std::string_view worker,
                    WallTime now) {
  const Task& task = answer.task;
  switch (answer.did) {
    case Did::no_such_task:
      return fmt::format("there is no task {}; `tend list` has all, `tend task add` makes one",
                         in_quotes(id));
    case Did::exists_already:
      return fmt::format("there is a task {} already: {}", in_quotes(id), on_one_line(task.title));
    case Did::held_by_other:
      return fmt::format("{} is held by {}, not by {}", in_quotes(id), holder_of(task, now),
                         on_one_line(worker));
    case Did::lost:
      return fmt::format("{} is held by {}: a later claim than yours", in_quotes(id),
                         holder_of(task, now));
    case Did::not_claimed:
      return fmt::format("{} is held by nobody; `tend task claim {}` takes it", in_quotes(id),
                         on_one_line(id));
    case Did::not_claimable:
      return fmt::format(
          "{} is {}; {}", in_quotes(id), on_one_line(task.status),
          task.status == kClosed
              ? fmt::format("`tend task reopen {}` opens it", on_one_line(id))
              : fmt::format("`tend task update {} --status open` frees it", on_one_line(id)));
    case Did::done:
    case Did::as_before:
      break;
  }
  return fmt::format("{} is {}", in_quotes(id), on_one_line(task.status));
}

}  // namespace tend
