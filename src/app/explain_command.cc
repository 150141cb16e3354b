// Ask the agent's files, then tell.
#include "app/explain_command.h"

#include "app/explain_task.h"
#include "app/explain_view.h"
#include "app/home_option.h"
#include "app/look.h"
#include "run/account_of.h"
#include "run/roster.h"
#include "store/agent_file.h"

namespace tend {

int explain_command(const Arguments& arguments, World& world) {
  const std::string& meant = arguments.positionals.front();
  if (meant.starts_with(kTaskPrefix)) {
    return explain_task(arguments, world, meant.substr(kTaskPrefix.size()));
  }
  auto home = open_home(world);
  if (!home) return complain(world, "explain", home.error().text, kExitUsage);
  Machine& machine = home->machine;
  auto known = find_agent(machine.folders, *home->folder, meant);
  if (!known) return complain(world, "explain", known.error().text, kExitNo);
  if (!known->problem.empty()) return complain(world, "explain", known->problem, kExitNo);

  Explained explained;
  explained.entry = look_at_agent(machine, *std::move(known), Source::journal);
  look_at_tasks(machine, *home->folder, {&explained.entry, 1});
  Folder& folder = *explained.entry.known.folder;
  if (auto agent = read_agent_file(folder)) explained.agent = *std::move(agent);
  auto standing = account_of(machine, folder);
  if (!standing) {
    explained.problem = "its journal cannot be read: " + standing.error().text;
  } else {
    explained.standing = *std::move(standing);
  }
  explained.now = machine.clock.wall();
  world.out.write(arguments.has("json")
                      ? explain_json(explained)
                      : explain_text(explained, Look(world.out, world.environment)));
  return kExitYes;
}

}  // namespace tend
