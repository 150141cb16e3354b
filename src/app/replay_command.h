// `tend replay`: judges recorded traces and shows what is decided, what held of their expectations,
// or where another policy would have judged otherwise.
#pragma once

#include "app/command.h"

namespace tend {

/// Exit 0 if all expectations held (with --diff: if both policies judge alike), 1 if not, 2 if a
/// trace cannot be read or an option is wrong.
int replay_command(const Arguments& arguments, World& world);

}  // namespace tend
