// Which processes belong together: those that carry a mark in their environment or are in a group
// of the system, and their unmarked descendants. The walk stops at any other mark, and it never
// takes in the one who asks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "os/process.h"

namespace tend {

struct Belonging {
  std::string mark;             // the value that marks a process as one of them
  ProcessId root;               // belongs to them whatever its environment says; pid 0: none
  std::string group;            // of Processes::make_group(), or ""
  std::vector<ProcessId> not_;  // never taken in, nor what is below them
};

/// The members among `all`, zombies left out, in no particular order. A root whose start time does
/// not fit is another process and no member. `in_group` are the pids of the group. `self` and its
/// ancestors are never members.
std::vector<ProcessId> members(std::span<const Seen> all, const Belonging& belonging,
                               std::span<const std::int64_t> in_group, const ProcessId& self);

}  // namespace tend
