// A command that was typed as one text, taken apart as a shell would, without one: nothing in it is
// expanded and nothing is run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tend {

/// Spaces part words; 'all of this' is one, "and this", where \" and \\ stand for themselves; \ in
/// front of anything else outside of quotes takes it as it is.
Result<std::vector<std::string>> split_words(std::string_view text);

}  // namespace tend
