// The first agents of the trees in a home. What is written to nobody in particular is for the one
// that there is.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/folder.h"

namespace tend {

struct RootAgent {
  std::string name;
  std::unique_ptr<Folder> folder;
};

/// Those that are not over, by their own word; in the order of their folders.
Result<std::vector<RootAgent>> root_agents(Folder& home);
/// There is no other that is not over.
Result<bool> is_only_root_agent(Folder& home, std::string_view name);

}  // namespace tend
