// Who gives a command that speaks for somebody: claims a task, sends a letter, reads one.
#pragma once

#include <optional>
#include <string>

#include "app/command.h"
#include "base/result.h"

namespace tend {

struct Actor {
  std::string name;
  std::optional<std::string> folder;  // of the kept agent of that name, if this runs inside of it
};

/// `typed`, else TEND_ACTOR, else the kept agent around us, else the user. The error says what is
/// wrong with the name.
Result<Actor> actor_or_else(const std::optional<std::string>& typed, World& world);

/// The same by --actor.
Result<Actor> actor_asked_for(const Arguments& arguments, World& world);

}  // namespace tend
