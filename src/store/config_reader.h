// TOML to policy drafts. Everything that can be said about a table alone is checked here; what
// needs other tables (inheritance) is store/config.cc.
#pragma once

#include <string_view>
#include <vector>

#include "store/config.h"
#include "store/policy_draft.h"

namespace tend {

inline constexpr std::size_t kLargestConfig = 1'000'000;  // bytes

/// The drafts that could be read, sorted by name. Whatever is wrong is added to `problems`.
std::vector<PolicyDraft> read_config(std::string_view text, std::string_view file,
                                     ConfigProblems& problems);

}  // namespace tend
