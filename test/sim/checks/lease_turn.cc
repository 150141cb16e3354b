// Who waits to lead gets its turn: while nothing goes wrong, somebody leads soon, and nobody waits
// longer than all others take together.
#include <algorithm>

#include <fmt/format.h>

#include "base/duration.h"
#include "checks/check.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

class LeaseTurn final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "its turn"; }

  void on_begin() override {
    for (const ContenderPlan& plan : world.scenario.contenders) {
      // One that does not give it back has its time, and may not be taken from too often.
      free_after_ = std::max(free_after_, 4 * plan.ttl + 2min);
      everybody_ += plan.works + 2 * plan.ttl + 1min;
    }
  }
  void on_act(const LeadTruth& /*lead*/) override { led_ = world.elapsed(); }
  void on_tick() override {
    const Duration now = world.elapsed();
    if (world.is_disturbed()) calm_since_ = now;
    const Duration calm_since = std::max(calm_since_, world.last_fault());
    for (std::size_t i = 0; i < world.truth().contenders.size(); ++i) {
      const ContenderTruth& contender = world.truth().contenders[i];
      if (contender.pid == 0 || contender.leads || is_stopped(contender.pid)) continue;
      const Duration waits = now - std::max(contender.since, calm_since);
      const std::string& who = world.scenario.contenders[i].name;
      if (now - std::max({contender.since, calm_since, led_}) > free_after_) {
        violated(fmt::format("nobody leads, and {} waits for {}", who, format_duration(waits)));
        calm_since_ = now;
      } else if (waits > everybody_ + free_after_) {
        violated(fmt::format("{} waits for {}", who, format_duration(waits)));
        calm_since_ = now;
      }
    }
  }

 private:
  [[nodiscard]] bool is_stopped(std::int64_t pid) const {
    const auto facts = world.universe.facts(pid);
    return facts && facts->state == RunState::stopped;
  }

  Duration free_after_{};
  Duration everybody_{};
  Duration calm_since_{};
  Duration led_{};
};

}  // namespace

std::unique_ptr<Check> make_lease_turn_check(SeededWorld& world) {
  return std::make_unique<LeaseTurn>(world);
}

}  // namespace tend::sim
