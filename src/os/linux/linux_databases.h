// SQLite files on a real disk.
#pragma once

#include <memory>
#include <string>

#include "os/database.h"

namespace tend {

class LinuxDatabases final : public Databases {
 public:
  [[nodiscard]] Result<std::unique_ptr<Database>> open(const std::string& path,
                                                       const DatabaseSettings& settings) override;
  [[nodiscard]] Result<void> copy(Database& database, const std::string& path) override;
};

}  // namespace tend
