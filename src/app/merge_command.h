// `tend merge`: brings the work of a child that ended well into its parent's work tree.
#pragma once

#include "app/command.h"

namespace tend {

int merge_command(const Arguments& arguments, World& world);

}  // namespace tend
