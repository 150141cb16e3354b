// An agent never runs twice at once, no life has the number of another, and of two keepers that
// were put on at once one leaves.
#include <algorithm>
#include <map>
#include <set>
#include <string>

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
  /// Whoever finds that there is another does so at once, unless it is stopped, or the disk is
  /// slow.
  void on_tick() override {
    for (const auto& [name, agent] : world.truth().agents) {
      std::set<std::int64_t> run;
      for (const std::int64_t pid : world.processes_of(name, Owner::Is::keeper)) {
        if (!world.keeper_is_paused(pid) && world.universe.runs(pid)) run.insert(pid);
      }
      std::set<std::int64_t>& before = ran_[name];
      const auto stayed =
          std::ranges::count_if(run, [&](std::int64_t pid) { return before.contains(pid); });
      const bool had_time = !world.is_disturbed() &&
                            world.since_wrong(Wrong::slow) > kTimeToLeave &&
                            world.unslept() - looked_ >= SeededWorld::kTick;
      if (stayed > 1 && had_time) violated(fmt::format("{} has {} keepers", name, stayed));
      before = std::move(run);
    }
    looked_ = world.unslept();
  }

 private:
  static constexpr Duration kTimeToLeave = std::chrono::minutes{1};

  std::map<std::string, std::set<std::int64_t>> ran_;  // keepers of an agent, at the last tick
  Duration looked_{};                                  // that was
};

}  // namespace

std::unique_ptr<Check> make_one_life_check(SeededWorld& world) {
  return std::make_unique<OneLife>(world);
}

}  // namespace tend::sim
