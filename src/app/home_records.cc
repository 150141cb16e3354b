// The home is made if it is missing, and so is its database.
#include "app/home_records.h"

#include <utility>

#include "store/home_database.h"

namespace tend {

Result<HomeRecords> open_home_records(World& world) {
  auto home = open_home(world);
  if (!home) return std::unexpected(home.error());
  auto database = open_home_database(home->machine.databases, *home->folder);
  if (!database) return std::unexpected(database.error());
  return HomeRecords{*std::move(home), *std::move(database)};
}

}  // namespace tend
