// Numbers that can be used but do not fit together: each is probably not what was meant.
#pragma once

#include "store/config.h"

namespace tend {

/// All warnings, in the order of the lines. What a policy inherits is told where it was written,
/// not again for every heir.
ConfigProblems check_config(const Config& config);

}  // namespace tend
