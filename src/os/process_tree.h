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

/// Whether `pid` is `above` or stands below it; also through processes whose own parent is gone and
/// that `keeper`, who takes in orphans, has now for a parent, if they carry the mark. `in_group`
/// are the pids of the group of `above`.
bool stands_below(std::span<const Seen> all, std::int64_t pid, const ProcessId& above,
                  const ProcessId& keeper, std::string_view mark,
                  std::span<const std::int64_t> in_group);

}  // namespace tend
