// Who waits to lead gets its turn: while nothing goes wrong, somebody leads soon, and nobody waits
// longer than all others take together, unless it stands in no line. And whatever became of the
// last holder, a lease that was given back or has run out is taken by who waits for it.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/duration.h"
#include "checks/check.h"
#include "judge/lease.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration kTakenWithin = 1min;

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
    judge_free(now);
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
      } else if (waits > everybody_ + free_after_ && !world.scenario.contenders[i].alone) {
        violated(fmt::format("{} waits for {}", who, format_duration(waits)));
        calm_since_ = now;
      }
    }
  }

 private:
  /// By what is written, and not by what became of anybody.
  void judge_free(Duration now) {
    const bool all_ran = now - std::exchange(looked_, now) <= 2 * SeededWorld::kTick;
    const bool may_be_taken = all_ran && !world.is_disturbed() && is_free();
    if (!may_be_taken) free_since_ = now;
    ready_since_.resize(world.truth().contenders.size());
    for (std::size_t i = 0; i < ready_since_.size(); ++i) {
      const ContenderTruth& contender = world.truth().contenders[i];
      const bool waits = contender.pid != 0 && !contender.leads && now >= contender.stopped_until;
      if (!waits) ready_since_[i] = now;
      const Duration since = std::max({free_since_, ready_since_[i], contender.since});
      if (now - since <= kTakenWithin) continue;
      violated(fmt::format("the lease is free for {}, and {} does not take it",
                           format_duration(now - free_since_), world.scenario.contenders[i].name));
      free_since_ = now;
    }
  }
  /// What is not given back too often is held back for a while.
  [[nodiscard]] bool is_free() const {
    const auto record = lease_of(world, SeededWorld::kLease);
    return record &&
           (!record->held || record->clock.boot_id != world.universe.boot_id() ||
            world.awake() - record->renewed >= lease_holds_until(record->ttl, record->lag));
  }
  [[nodiscard]] bool is_stopped(std::int64_t pid) const {
    const auto facts = world.universe.facts(pid);
    return facts && facts->state == RunState::stopped;
  }

  Duration free_after_{};
  Duration everybody_{};
  Duration calm_since_{};
  Duration led_{};
  Duration looked_{};
  Duration free_since_{};
  std::vector<Duration> ready_since_;  // beside the plans: who wants to lead, and could
};

}  // namespace

std::unique_ptr<Check> make_lease_turn_check(SeededWorld& world) {
  return std::make_unique<LeaseTurn>(world);
}

}  // namespace tend::sim
