// An agent never runs twice at once, and no life has the number of another.

#include <fmt/format.h>

#include "checks/check.h"
#include "store/life_record.h"

namespace tend::sim {
namespace {

class OneLife final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "one life"; }

  void on_life(const AgentTruth& agent) override {
    const auto running = world.processes_of(agent.plan->name, Owner::Is::agent);
    if (running.size() > 1) {
      violated(fmt::format("{} runs {} times at once", agent.plan->name, running.size()));
    }
    if (agent.lives.size() < 2) return;
    const LifeTruth& before = agent.lives[agent.lives.size() - 2];
    if (is_there(before.inner)) {
      violated(fmt::format("{} began life {} while life {} worked behind a process that was gone",
                           agent.plan->name, agent.lives.back().number, before.number));
    }
    // Its number stands in the record, and that may go with the power.
    if (world.has_lost(agent.plan->name, kLockFile, before.since)) return;
    if (agent.lives.back().number <= before.number) {
      violated(fmt::format("{} began life {} after life {}", agent.plan->name,
                           agent.lives.back().number, before.number));
    }
  }
  [[nodiscard]] bool is_there(const ProcessId& inner) const {
    const auto facts = world.universe.facts(inner.pid);
    return inner.pid != 0 && facts && facts->id == inner && world.universe.runs(inner.pid);
  }
  void on_settled() override {
    for (const auto& [name, agent] : world.truth().agents) {
      const auto keepers = world.processes_of(name, Owner::Is::keeper);
      if (keepers.size() > 1) violated(fmt::format("{} has {} keepers", name, keepers.size()));
    }
  }
};

}  // namespace

std::unique_ptr<Check> make_one_life_check(SeededWorld& world) {
  return std::make_unique<OneLife>(world);
}

}  // namespace tend::sim
