// TOML to policy drafts and all other sections. Everything that can be said about a table alone is
// checked here; what needs other tables (inheritance) is store/config.cc.
#pragma once

#include <string_view>
#include <vector>

#include "store/config.h"
#include "store/policy_draft.h"

namespace tend {

inline constexpr std::size_t kLargestConfig = 1'000'000;  // bytes

/// The drafts that could be read, sorted by name; all that is no policy goes into `config`, which
/// has the file's name already. Whatever is wrong is added to `problems`.
std::vector<PolicyDraft> read_config(std::string_view text, Config& config,
                                     ConfigProblems& problems);

}  // namespace tend
