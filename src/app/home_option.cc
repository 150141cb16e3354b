// One way to find the home, one way to complain.
#include "app/home_option.h"

#include <fmt/format.h>

#include "store/home.h"

namespace tend {

Result<Home> open_home(World& world) {
  Machine& machine = world.machines.machine();
  const auto path = home_path(world.environment, machine);
  if (!path) return std::unexpected(path.error());
  auto folder = machine.folders.make(*path);
  if (!folder) return std::unexpected(folder.error());
  return Home{machine, *std::move(folder)};
}

int complain(World& world, std::string_view command, std::string_view text, int code) {
  world.out.flush();
  world.err.write(fmt::format("tend {}: {}\n", command, text));
  return code;
}

}  // namespace tend
