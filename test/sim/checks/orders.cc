// What a person ordered holds: who was stopped stays so, who is paused is not judged for it.
#include <fmt/format.h>

#include "checks/check.h"
#include "store/intent.h"

namespace tend::sim {
namespace {

class Orders final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "orders"; }

  void on_life(const AgentTruth& agent) override {
    if (was_stopped(agent)) {
      violated(fmt::format("{} was stopped, and begins life {}", agent.plan->name,
                           agent.lives.back().number));
    }
  }
  void on_signal(const SimSent& sent, const Owner& sender, const Owner& to) override {
    look_for_stop(sent, sender, to);
    if (!is_decided_end(sent, sender, to) || world.is_shutting_down()) return;
    const AgentTruth& agent = world.truth().agents.at(to.agent);
    if (agent.is_paused && !agent.stop_ordered) {
      violated(fmt::format("{} was paused by a person, and is ended", to.agent));
    }
  }
  void on_settled() override {
    for (const auto& [name, agent] : world.truth().agents) {
      if (was_stopped(agent) && agent.life() != nullptr) {
        violated(fmt::format("{} was stopped, and runs", name));
      }
      const StopOrder order = order_to(world, agent);
      if (order.stop) expect_over(agent, order.tree);
    }
  }

 private:
  /// An order is synced, so that nothing but a disk that lies can lose it.
  [[nodiscard]] bool was_stopped(const AgentTruth& agent) const {
    return agent.was_stopped && !(has_fault(world.scenario, {FaultKind::lying_disk}) &&
                                  world.has_lost(agent.plan->name, kIntentFile));
  }
  /// Nobody holds an agent but who was told to.
  void look_for_stop(const SimSent& sent, const Owner& sender, const Owner& to) {
    if (sent.kill != Kill::stop || sender.is != Owner::Is::keeper || to.is != Owner::Is::agent)
      return;
    if (world.is_to_pause(to.agent) || world.truth().agents.at(to.agent).is_paused) return;
    violated(fmt::format("{} is held, and nobody paused it", to.agent));
  }
  void expect_over(const AgentTruth& agent, bool with_all_below) {
    if (agent.life() != nullptr) {
      violated(fmt::format("{} is to stop, and runs", agent.plan->name));
    }
    if (!with_all_below) return;
    for (const std::string& child : agent.children) {
      expect_over(world.truth().agents.at(child), true);
    }
  }
};

}  // namespace

std::unique_ptr<Check> make_orders_check(SeededWorld& world) {
  return std::make_unique<Orders>(world);
}

}  // namespace tend::sim
