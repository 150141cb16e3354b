// One run of the program: understand the words, do what they ask, say how it ended.
#pragma once

#include <span>
#include <string_view>

#include "app/command.h"

namespace tend {

/// `words` is everything after the program's name. Returns the exit code. A usage error is one line
/// on `world.err`; words that end before they name a command get the help they need on `world.out`.
int dispatch(std::span<const CommandRow> table, std::span<const std::string_view> words,
             World& world);

}  // namespace tend
