// Which Tend this is. The definitions are made by the build (cmake/version.cc.in), because only it
// knows the commit.
#pragma once

#include <string_view>

namespace tend {

/// "0.1.0"
std::string_view tend_version();

/// The commit it was built from, shortened; "unknown" when it was not built from a clone.
std::string_view tend_commit();

}  // namespace tend
