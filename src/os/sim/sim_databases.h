// Databases of the simulated machine: SQLite in memory, one for each path, for all its processes.
// What was committed outlives every process; of the machine's end see sim_database_file.h.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "os/database.h"
#include "os/sim/sim_kernel.h"

namespace tend {

class SimDatabases final : public Databases {
 public:
  explicit SimDatabases(SimHandlePtr handle) : handle_(std::move(handle)) {}
  [[nodiscard]] Result<std::unique_ptr<Database>> open(const std::string& path,
                                                       const DatabaseSettings& settings) override;
  [[nodiscard]] Result<void> copy(Database& database, const std::string& path) override;

 private:
  SimHandlePtr handle_;
};

}  // namespace tend
