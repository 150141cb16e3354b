// One order of names for all commands, so that who claims a task also gets the mail about it.
#include "app/actor.h"

#include "app/inside.h"
#include "store/tasks.h"

namespace tend {
namespace {

/// A service or a container has no USER, and still somebody runs it.
std::string user_of(World& world) {
  for (const char* name : {"USER", "LOGNAME"}) {
    const auto user = world.environment.variable(name);
    if (user && !user->empty()) return *user;
  }
  return world.caller.user();
}

}  // namespace

Result<Actor> actor_or_else(const std::optional<std::string>& typed, World& world) {
  Actor actor;
  const auto inside = inside_of(world);
  const auto variable = world.environment.variable("TEND_ACTOR");
  if (typed) {
    actor.name = *typed;
  } else if (variable && !variable->empty()) {
    actor.name = *variable;
  } else if (inside) {
    actor.name = inside->agent;
  } else {
    actor.name = user_of(world);
  }
  if (auto ok = check_task_word("the actor", actor.name); !ok) return std::unexpected(ok.error());
  if (inside && inside->agent == actor.name) actor.folder = inside->folder->path();
  return actor;
}

Result<Actor> actor_asked_for(const Arguments& arguments, World& world) {
  return actor_or_else(arguments.value("actor"), world);
}

}  // namespace tend
