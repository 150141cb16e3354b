// What a person ordered holds: who was stopped stays so, who is paused is not judged for it.
#include <fmt/format.h>

#include "checks/check.h"

namespace tend::sim {
namespace {

class Orders final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "orders"; }

  void on_life(const AgentTruth& agent) override {
    if (agent.was_stopped && !loses_files(world.scenario)) {
      violated(fmt::format("{} was stopped, and begins life {}", agent.plan->name,
                           agent.lives.back().number));
    }
  }
  void on_signal(const SimSent& sent, const Owner& sender, const Owner& to) override {
    if (!is_decided_end(sent, sender, to) || world.is_shutting_down()) return;
    const AgentTruth& agent = world.truth().agents.at(to.agent);
    if (agent.is_paused && !agent.stop_ordered) {
      violated(fmt::format("{} was paused by a person, and is ended", to.agent));
    }
  }
  void on_settled() override {
    for (const auto& [name, agent] : world.truth().agents) {
      if (agent.was_stopped && agent.life() != nullptr && !loses_files(world.scenario)) {
        violated(fmt::format("{} was stopped, and runs", name));
      }
      if (loses_files(world.scenario)) continue;
      const StopOrder order = order_to(world, agent);
      if (order.stop) expect_over(agent, order.tree);
    }
  }

 private:
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
