// Ask the agent's files, then tell.
#include "app/explain_command.h"

#include "app/explain_view.h"
#include "app/home_option.h"
#include "app/look.h"
#include "run/account_of.h"
#include "run/roster.h"
#include "store/agent_file.h"

namespace tend {

int explain_command(const Arguments& arguments, World& world) {
  auto home = open_home(world);
  if (!home) return complain(world, "explain", home.error().text, kExitUsage);
  Machine& machine = home->machine;
  auto known = find_agent(machine.folders, *home->folder, arguments.positionals.front());
  if (!known) return complain(world, "explain", known.error().text, kExitNo);
  if (!known->problem.empty()) return complain(world, "explain", known->problem, kExitNo);

  Explained explained;
  explained.entry = look_at_agent(machine, *std::move(known), Source::journal);
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
