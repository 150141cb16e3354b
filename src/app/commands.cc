// The whole table, joined from its areas in the order of `tend --help`.
#include <vector>

#include "app/command.h"
#include "app/command_rows.h"

namespace tend {
namespace {

std::vector<CommandRow> joined_rows() {
  std::vector<CommandRow> rows;
  for (const auto& part :
       {starting_commands(), tree_commands(), reading_commands(), ordering_commands(),
        task_commands(), patrol_commands(), mail_commands(), gate_commands(), lease_commands(),
        service_commands(), speaking_commands(), tool_commands()}) {
    rows.insert(rows.end(), part.begin(), part.end());
  }
  return rows;
}

}  // namespace

std::span<const CommandRow> commands() {
  static const std::vector<CommandRow> rows = joined_rows();
  return rows;
}

}  // namespace tend
