// Whoever dies again and again is held: no more resumes in half an hour than the policy grants,
// and the one more that a hold ends with.
#include <deque>
#include <map>

#include <fmt/format.h>

#include "checks/check.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

class Resumes final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "budget"; }

  void on_life(const AgentTruth& agent) override {
    if (agent.lives.size() < 2) return;
    const Budget& budget = agent.policy.budget;
    auto& began = began_[agent.plan->name];
    began.push_back(world.elapsed());
    while (world.elapsed() - began.front() > kWindow) began.pop_front();
    // What dies with the machine, with its parent or unseen spends nothing.
    if (!world.unfit().empty() || spends_nothing()) return;
    if (began.size() > budget.between_refills + 1) {
      violated(fmt::format("{} was brought back {} times within half an hour", agent.plan->name,
                           began.size()));
    }
  }

 private:
  static constexpr Duration kWindow = 29min;
  [[nodiscard]] bool spends_nothing() const {
    return loses_power(world.scenario) ||
           has_fault(world.scenario,
                     {FaultKind::shutdown, FaultKind::kill_both, FaultKind::kill_all,
                      FaultKind::kill_agent, FaultKind::reuse_pid, FaultKind::stop_order,
                      FaultKind::pause_order, FaultKind::full_disk, FaultKind::unreadable,
                      FaultKind::deaf_keeper, FaultKind::patrol_first, FaultKind::blind_in_act,
                      FaultKind::kill_in_hand, FaultKind::set_in_hold});
  }

  std::map<std::string, std::deque<Duration>> began_;
};

}  // namespace

std::unique_ptr<Check> make_budget_check(SeededWorld& world) {
  return std::make_unique<Resumes>(world);
}

}  // namespace tend::sim
