// While a patrol runs, an agent whose keeper died has a new one in time, whoever puts it on.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/duration.h"
#include "checks/check.h"
#include "run/keeper_watch.h"
#include "run/patrol_process.h"
#include "store/patrol_file.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

class PatrolKeepers final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "keeper missing"; }

  void on_tick() override {
    const bool other_boot =
        std::exchange(boot_, world.universe.boot_id()) != world.universe.boot_id();
    if (other_boot || world.is_disturbed() || !world.patrolled_since()) return without_.clear();
    for (const auto& [name, agent] : world.truth().agents) {
      if (is_without(name)) {
        look_at(name);
      } else {
        without_.erase(name);
      }
    }
  }

 private:
  // Everybody is known to the patrol after its next sweep, and looked at with every beat. Where
  // keepers died again and again meanwhile, it waits.
  [[nodiscard]] Duration bound() const {
    return with_interval({}, world.scenario.patrol).sweeps.longest + 2 * kPatrolBeat +
           KeeperWatch::kReplacedWithin + 1min;
  }
  /// It had a keeper in this boot, and is not over.
  [[nodiscard]] bool is_without(const std::string& name) const {
    if (!world.processes_of(name, Owner::Is::keeper).empty()) return false;
    if (is_unreadable(world.folder_of(name))) return false;  // none can begin there
    const auto says = world.heartbeat_of(name);
    return says && !is_terminal(says->status) && says->life > 0 &&
           says->keeper.boot_id == world.universe.boot_id();
  }
  [[nodiscard]] bool is_unreadable(const std::string& folder) const {
    const SimNodePtr& node = world.universe.disk.find(folder);
    return node != nullptr && std::ranges::any_of(node->entries, [](const auto& entry) {
             return entry.node->unreadable;
           });
  }
  void look_at(const std::string& name) {
    const auto [found, is_new] = without_.emplace(name, world.awake());
    const Duration missing = world.awake() - found->second;
    if (missing <= bound()) return;
    violated(fmt::format("{} has none for {}", name, format_duration(missing)));
    found->second = world.awake();
  }

  std::map<std::string, Duration> without_;  // awake time
  std::string boot_;
};

}  // namespace

std::unique_ptr<Check> make_patrol_keepers_check(SeededWorld& world) {
  return std::make_unique<PatrolKeepers>(world);
}

}  // namespace tend::sim
