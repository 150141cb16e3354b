// The man page tend(1), made from the command table as roff for any man program.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/command.h"

namespace tend {

/// The whole page; `version` is "0.1.0".
std::string man_page(std::span<const CommandRow> table, std::string_view version);

/// Text that roff prints as it stands: no macro at the start of a line, no escape, and hyphens that
/// can be copied to a shell.
std::string roff(std::string_view text);

}  // namespace tend
