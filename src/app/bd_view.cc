// Every issue says its priority and type, as their readers take a missing number for the highest.
#include "app/bd_view.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/agent_json.h"
#include "app/task_view.h"
#include "base/quote.h"

namespace tend {
namespace {

using Did = TaskAnswer::Did;
using Json = nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;
constexpr int kUsualPriority = 2;

}  // namespace

Json issue_json(const Task& task, std::optional<Duration> stale_for) {
  Json json = task_json(task, stale_for);
  json["priority"] = kUsualPriority;
  json["issue_type"] = "task";
  json["claim_fence"] = json["fence"];
  json.erase("fence");
  if (task.last_heartbeat) json["heartbeat_at"] = json["last_heartbeat"];
  for (const char* field : {"lease_expires_at", "closed_at", "close_reason"}) {
    if (json[field].is_null()) json.erase(field);
  }
  if (stale_for) {
    json["stale_duration"] = std::chrono::duration_cast<std::chrono::minutes>(*stale_for).count();
  }
  return json;
}

std::string issue_refusal(const TaskAnswer& answer, std::string_view id) {
  const Task& task = answer.task;
  const std::string holder = on_one_line(task.assignee.value_or("nobody"));
  switch (answer.did) {
    case Did::no_such_task:
      return fmt::format("issue not found: {}", on_one_line(id));
    case Did::exists_already:
      return fmt::format("issue already exists: {}", on_one_line(id));
    case Did::held_by_other:
      return fmt::format("issue already claimed by {}", holder);
    case Did::lost:
      return fmt::format("claim fence of {} is {} now, of {}", on_one_line(id), task.fence, holder);
    case Did::not_claimed:
    case Did::not_claimable:
    case Did::done:
    case Did::as_before:
      break;
  }
  return fmt::format("issue not claimable: {} status {}", on_one_line(id),
                     on_one_line(task.status));
}

std::string issue_name(const Task& task) {
  return fmt::format("{} — {}", on_one_line(task.id), on_one_line(task.title));
}

void print_issue_json(World& world, Json json) {
  if (world.environment.variable("BD_JSON_ENVELOPE") == "1") {
    json = Json{{"schema_version", kSchemaVersion}, {"data", std::move(json)}};
  } else if (json.is_object()) {
    json["schema_version"] = kSchemaVersion;
  }
  world.out.write(json_line(json));
}

int bd_fail(const Arguments& arguments, World& world, const std::string& text) {
  if (arguments.has("json")) {
    print_issue_json(world, Json{{"error", text}});
  } else {
    world.out.flush();
    world.err.write(fmt::format("Error: {}\n", text));
  }
  return kExitNo;
}

}  // namespace tend
