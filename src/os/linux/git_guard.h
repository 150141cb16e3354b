// What a repository's own configuration may not do: define a filter or a merge driver, which is a
// command, and have it run by naming it in an attribute. The drivers are switched off in any case;
// here is found out where that would make a difference.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "os/linux/git_command.h"

namespace tend {

/// The arguments that ask for the attributes of these trees, of the work tree if there is none;
/// empty if the repository defines nothing.
std::vector<std::string> git_guard_arguments(const GitConfig& config,
                                             std::vector<std::string> trees);

/// From the answer, and from what the git folder itself says of attributes, to what stands in the
/// way, in words; "" if nothing does.
std::string git_danger(const GitConfig& config, std::string_view attributes,
                       const std::string& common_git_folder);

}  // namespace tend
