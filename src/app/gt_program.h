// The program under the name `gt`: what sessions of Gas Town say of themselves, written into the
// stores that their watchers read (docs/gastown.md). It speaks `gt heartbeat` and `gt deacon
// heartbeat`, in the words of the original; everything else is left to that.
#pragma once

#include <span>
#include <string_view>

#include "os/world.h"

namespace tend {

/// Whether this is how the program was called: a path whose last part is "gt".
bool is_called_gt(std::string_view path);

/// `words` is everything after "gt". Exit 0; 1 if a store was not written, or nobody says whose
/// heartbeat it is; 2 for what it does not speak.
int gt_program(std::span<const std::string_view> words, World& world);

}  // namespace tend
