// What every command about kept agents begins with: the machine, the home, and where it is.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "os/machine.h"
#include "os/world.h"

namespace tend {

struct Home {
  Machine& machine;
  std::unique_ptr<Folder> folder;
};

/// Opens the home; one that is not there yet is made.
Result<Home> open_home(World& world);

/// Writes "tend COMMAND: TEXT" as one line of an error, and gives `code` back.
int complain(World& world, std::string_view command, std::string_view text, int code);

}  // namespace tend
