// A task in JSON and for people.
#pragma once

#include <optional>
#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/time.h"
#include "store/tasks.h"

namespace tend {

/// "2026-01-03T12:15:00Z".
std::string rfc3339(WallTime at);

/// `stale_for`: for how long it had no sign, if it is stale.
nlohmann::ordered_json task_json(const Task& task, std::optional<Duration> stale_for = {});

/// The task that an agent works on, in its object.
nlohmann::ordered_json task_of_agent_json(const Task& task);
/// "web:3: tests pass (3m ago)".
std::string task_of_agent(const Task& task, WallTime now);

/// Everything about one task, a line each.
std::string task_in_words(const Task& task, WallTime now);

/// Why a task is not what was asked of it, in one line.
std::string why_not(const TaskAnswer& answer, std::string_view id, std::string_view worker,
                    WallTime now);

}  // namespace tend
