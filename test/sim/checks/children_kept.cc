// A lead keeps its children: whom a dispatch has promised stands in the registry of its lead,
// whatever becomes of the power; and no lead whose own work is done leaves one of them at work
// behind.
#include <set>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "checks/check.h"
#include "store/children.h"

namespace tend::sim {
namespace {

class ChildrenKept final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "children kept"; }

  void on_tick() override {
    if (may_be_forgotten_) return;
    for (const auto& [name, agent] : world.truth().agents) {
      if (agent.children.empty() || told_.contains(name)) continue;
      look_at_end(name, agent);
    }
  }
  void on_settled() override {
    if (has_fault(world.scenario, {FaultKind::lying_disk})) return;
    for (const auto& [name, agent] : world.truth().agents) {
      if (agent.promised) look_at_promise(name, agent.plan->parent);
    }
  }

 private:
  /// With the machine all go, and what cannot be read is not known.
  const bool may_be_forgotten_ =
      has_fault(world.scenario, {FaultKind::shutdown, FaultKind::patrol_first});

  void look_at_end(const std::string& name, const AgentTruth& agent) {
    if (!world.is_over(name)) return;
    const auto says = world.heartbeat_of(name);
    if (!says || says->outcome != WorkOutcome::done) return;
    for (const std::string& child : agent.children) {
      if (!world.truth().agents.at(child).promised || world.is_over(child)) continue;
      if (world.has_lost(child, kHeartbeatFile)) continue;  // it was over as well
      told_.insert(name);
      violated(fmt::format("{} is over, and left {} at work", name, child));
    }
  }
  void look_at_promise(const std::string& child, const std::string& lead) {
    const std::string path = world.folder_of(lead) + "/" + std::string(kChildrenFile);
    std::istringstream lines(world.universe.disk.read(path).value_or(""));
    for (std::string text; std::getline(lines, text);) {
      const auto line = parse_child_line(text);
      if (line && line->agent == child) return;
    }
    violated(fmt::format("{} was dispatched, and {} does not know of it", child, lead));
  }

  std::set<std::string> told_;
};

}  // namespace

std::unique_ptr<Check> make_children_kept_check(SeededWorld& world) {
  return std::make_unique<ChildrenKept>(world);
}

}  // namespace tend::sim
