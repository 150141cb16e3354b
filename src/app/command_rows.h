// The parts of the command table, one span for each area, and the options that several of them
// have. A new command is one row in the file of its area and its body.
#pragma once

#include <span>

#include "app/command.h"

namespace tend {

inline constexpr OptionRow kJson{.name = "json", .help = "print one JSON object a line"};
inline constexpr OptionRow kQuiet{
    .name = "quiet", .letter = 'q', .help = "print nothing if all went well"};

std::span<const CommandRow> starting_commands();  // commands_run.cc
std::span<const CommandRow> ordering_commands();  // commands_run.cc
std::span<const CommandRow> tree_commands();      // commands_tree.cc
std::span<const CommandRow> task_commands();      // commands_tasks.cc
std::span<const CommandRow> patrol_commands();    // commands_patrol.cc
std::span<const CommandRow> reading_commands();   // commands_read.cc
std::span<const CommandRow> speaking_commands();  // commands_speak.cc
std::span<const CommandRow> tool_commands();      // commands_tools.cc
std::span<const CommandRow> mail_commands();      // commands_mail.cc
std::span<const CommandRow> gate_commands();      // commands_gate.cc
std::span<const CommandRow> lease_commands();     // commands_lease.cc
std::span<const CommandRow> service_commands();   // commands_service.cc

}  // namespace tend
