// Completion scripts for bash, zsh and fish, made from the command table. Each script is complete
// in itself: it knows the words and never starts tend.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/command.h"

namespace tend {

inline constexpr std::string_view kShells[] = {"bash", "zsh", "fish"};

std::string bash_completion(std::span<const CommandRow> table);
std::string zsh_completion(std::span<const CommandRow> table);
std::string fish_completion(std::span<const CommandRow> table);

/// `tend completion`
int completion_command(const Arguments& arguments, World& world);

}  // namespace tend
