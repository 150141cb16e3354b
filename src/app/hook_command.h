// `tend hook claude|codex|gemini`: what an agent's own hooks run at each event. It must never stop
// or fail the agent, so it says nothing on standard output and its exit status is always 0.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "app/command.h"
#include "os/world.h"

namespace tend {

int hook_command(const Arguments& arguments, World& world);

/// The short way, without the table. `words` is everything after "tend". nullopt unless they are
/// this command: then also a mistake in them is no failure. --help is for the table.
std::optional<int> hook_quickly(std::span<const std::string_view> words, World& world);

}  // namespace tend
