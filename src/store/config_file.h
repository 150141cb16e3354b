// Where configurations are: the user's own file, and the files and names a command line may say.
#pragma once

#include <expected>
#include <string>

#include "base/result.h"
#include "judge/policy.h"
#include "os/world.h"
#include "store/config.h"

namespace tend {

/// The user's configuration: $TEND_HOME/config.toml, else $XDG_STATE_HOME/tend/config.toml, else
/// ~/.local/state/tend/config.toml. It need not exist. An error if none of these variables is set.
Result<std::string> default_config_path(const Environment& environment);

/// Reads and parses one file. That it cannot be read is a problem without file and line: its text
/// is the system's.
std::expected<Config, ConfigProblems> load_config(const std::string& path, Files& files);

/// The user's configuration as it works; an empty one if there is no file. A keeper is told its
/// home, and must not read another file for that than the person who started it: a home without a
/// file of its own has the user's. The error is the first problem in it.
Result<Config> user_config(World& world);

/// What `--policy` means: a built-in name; a FILE with exactly one policy; FILE:NAME; or a NAME of
/// the user's configuration. A FILE has a '/' in it, ends in .toml, or is there to be read. The
/// error says what exists.
Result<Policy> policy_from_argument(const std::string& argument, World& world);

}  // namespace tend
