// The agent that a command runs inside of, as its environment names it.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>

#include "os/machine.h"
#include "os/world.h"

namespace tend {

struct Inside {
  Machine& machine;
  std::unique_ptr<Folder> folder;
  std::string agent;  // its name
  std::uint32_t life = 0;
};

struct NotInside {
  std::string text;  // one line that says what to do
  int exit_code = 0;
};

/// From TEND_INFRA and TEND_LIFE. Exit code 2 outside of a kept agent or where its folder cannot be
/// read, 1 if this life of it is over.
std::expected<Inside, NotInside> inside_of(World& world);

/// Whether a keeper reads the agent's own stream in its language: then nobody needs to tell it what
/// that stream tells.
bool stream_is_heard(const Environment& environment);

}  // namespace tend
