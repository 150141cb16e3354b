// A database in a home whose schema has a version: an older one is brought up to date by whoever
// opens it first, behind a lock and after a copy was put aside; a newer one is left alone. Whoever
// is killed within that has changed nothing.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/database.h"
#include "os/folder.h"

namespace tend {

/// Made if it is not there. The i-th step, SQL, takes it from version i to i + 1. What was of
/// version V is put aside as NAME.vV; a new one has nothing to put aside.
Result<std::unique_ptr<Database>> open_versioned_database(Databases& databases, Folder& home,
                                                          const std::string& name,
                                                          std::span<const std::string_view> steps,
                                                          const DatabaseSettings& settings);

}  // namespace tend
