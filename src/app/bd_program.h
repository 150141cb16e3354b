// The program under the name `bd`: the tasks of the home in the dialect of beads and of the
// heartbeat protocol that grew around it (docs/beads.md). It always speaks of the home's own tasks,
// whatever the configuration says: a home whose configuration names this very program as its `bd`
// would else ask itself for ever.
#pragma once

#include <span>
#include <string_view>

#include "app/command.h"

namespace tend {

inline constexpr std::string_view kBd = "bd";

/// Whether this is how the program was called: a path whose last part is "bd".
bool is_called_bd(std::string_view path);

/// Its command table, in the order of `bd --help`.
std::span<const CommandRow> bd_commands();

/// `words` is everything after "bd". Exit 0 or 1, as the original has it.
int bd_program(std::span<const std::string_view> words, World& world);

}  // namespace tend
