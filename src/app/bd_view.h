// Tasks as `bd` shows them: an issue in JSON has the fields of beads and those of the heartbeat
// protocol, and what is refused is refused in the words that other programs look for.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "app/command.h"
#include "base/time.h"
#include "store/tasks.h"

namespace tend {

/// `stale_for`: for how long it had no sign, if it is stale.
nlohmann::ordered_json issue_json(const Task& task, std::optional<Duration> stale_for = {});

/// "issue already claimed by PinkHill".
std::string issue_refusal(const TaskAnswer& answer, std::string_view id);

/// "web:3 — Implement login", on one line.
std::string issue_name(const Task& task);

/// One line. An object says the version of its shape; with BD_JSON_ENVELOPE=1 all of it is wrapped.
void print_issue_json(World& world, nlohmann::ordered_json json);

/// On standard output with --json, else one line on standard error. Gives the exit code back.
int bd_fail(const Arguments& arguments, World& world, const std::string& text);

}  // namespace tend
