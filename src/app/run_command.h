// `tend run` and `tend keep`: starting a kept agent, and being the keeper of one.
#pragma once

#include "app/command.h"

namespace tend {

int run_command(const Arguments& arguments, World& world);
int keep_command(const Arguments& arguments, World& world);

inline constexpr std::string_view kInputs[] = {"null", "inherit", "stream"};

}  // namespace tend
