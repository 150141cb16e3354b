// Nobody is ended who did something within the time it was given: the limit of what it is doing,
// and the second look. Ends by order, and of orphans after their grace, are no faults.
#include <map>

#include <fmt/format.h>

#include "checks/check.h"

namespace tend::sim {
namespace {

class FalseKill final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "false kill"; }

  void on_tick() override {
    for (const auto& [name, agent] : world.truth().agents) {
      if (agent.plan->parent.empty() || agent.life() == nullptr) continue;
      const auto since = world.abandoned_since(agent.plan->parent);
      if (since && world.elapsed() - *since >= agent.policy.limits.orphan - SeededWorld::kTick) {
        orphaned_[name] = agent.life()->number;
      }
    }
  }
  void on_signal(const SimSent& sent, const Owner& sender, const Owner& to) override {
    if (!is_decided_end(sent, sender, to)) return;
    AgentTruth& agent = world.truth().agents.at(to.agent);
    const LifeTruth* const life = agent.life();
    if (life == nullptr || life->process != sent.to) return;
    if (agent.stop_ordered || world.is_shutting_down()) return;
    if (std::exchange(ended_[to.agent], life->number) == life->number) return;
    const auto orphan = orphaned_.find(to.agent);
    if (orphan != orphaned_.end() && orphan->second == life->number) return;
    ++world.outcome().kills;
    if (life->leaving) return;
    const Duration silent = world.awake() - life->progressed;
    if (!life->hang) {
      ++world.outcome().false_kills;
      if (life->doing) ++world.outcome().false_kills_in[*life->doing];
    }
    if (life->unheard || (life->patience != kNoLimit && silent >= life->patience - kSlack)) return;
    violated(
        fmt::format("{} life {} was ended {} s after it did something; it may be silent for {}",
                    to.agent, life->number, seconds(silent),
                    life->patience == kNoLimit ? "ever" : seconds(life->patience) + " s"));
  }

 private:
  static constexpr Duration kSlack = std::chrono::seconds{5};
  static std::string seconds(Duration time) {
    return fmt::format("{:.0f}", std::chrono::duration<double>(time).count());
  }

  std::map<std::string, std::uint32_t> orphaned_;  // in which life
  std::map<std::string, std::uint32_t> ended_;
};

}  // namespace

std::unique_ptr<Check> make_false_kill_check(SeededWorld& world) {
  return std::make_unique<FalseKill>(world);
}

}  // namespace tend::sim
