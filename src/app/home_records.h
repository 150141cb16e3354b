// What commands about tasks, mail and notices begin with: the home and its database, open.
#pragma once

#include <memory>

#include "app/home_option.h"
#include "os/database.h"

namespace tend {

struct HomeRecords {
  Home home;
  std::unique_ptr<Database> database;

  [[nodiscard]] WallTime now() const { return home.machine.clock.wall(); }
};

Result<HomeRecords> open_home_records(World& world);

}  // namespace tend
