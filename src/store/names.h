// `names/` in the home: for each name the folder of the agent that had it last, one small file
// each, so that whether a name is free does not depend on how many agents there are. Whoever looks
// and then takes one holds the lock `.names`.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/folder.h"

namespace tend {

inline constexpr std::string_view kNamesFolder = "names";

/// nullopt if nobody ever had the name, or what stands there cannot be understood.
Result<std::optional<std::string>> named_folder(Folder& home, std::string_view name);
/// The path must be absolute. Whoever had the name before is not found by it any more.
Result<void> name_folder(Folder& home, std::string_view name, const std::string& path);

}  // namespace tend
