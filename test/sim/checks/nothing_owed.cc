// When nothing has gone wrong for long, nothing waits to be done: a scan of the home finds nothing
// to recover, and no lock is held by somebody who is gone.
#include <fmt/format.h>

#include "checks/check.h"
#include "run/recover.h"
#include "store/life_record.h"
#include "store/patrol_file.h"

namespace tend::sim {
namespace {

class NothingOwed final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "nothing owed"; }

  void on_settled() override {
    Machine& machine = world.universe.machine("checker");
    const auto home = machine.folders.open(SeededWorld::kHome);
    if (!home) return violated("the home cannot be opened: " + home.error().text);
    const auto scan = scan_home(machine, **home);
    if (!scan) return violated("the home cannot be scanned: " + scan.error().text);
    for (const Recovery& one : scan->agents) {
      if (one.is_due()) violated(fmt::format("{} waits to be recovered: {}", one.agent, one.why));
    }
    for (const std::string& path : world.universe.disk.files(SeededWorld::kHome)) {
      const bool of_keeper = path.ends_with("/" + std::string(kLockFile));
      const bool of_patrol =
          path.ends_with("/" + std::string(kPatrolFile)) && world.patrolled_since().has_value();
      if (!of_keeper && !of_patrol && world.universe.disk.is_locked(path)) {
        violated(fmt::format("{} is still locked", path));
      }
    }
  }
};

}  // namespace

std::unique_ptr<Check> make_nothing_owed_check(SeededWorld& world) {
  return std::make_unique<NothingOwed>(world);
}

}  // namespace tend::sim
