// A service ends with its subject, and not before: soon after that is over it is gone, unless it
// is stopped or cannot look; and none leaves a subject that is still there.
#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/duration.h"

#include "checks/check.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration kEndsWithin = 1min;  // it looks every few seconds where it cannot hear of it

class ServiceEnds final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "ends with its subject"; }

  void on_service_left(std::size_t service) override {
    const bool is_for_guest = world.scenario.services[service].agent.empty();
    const bool found_one = world.truth().services[service].subject.pid != 0;
    if (is_subject_over(world, service) || (is_for_guest && !found_one)) return;
    violated(
        fmt::format("{} left a subject that is not over", world.scenario.services[service].name));
  }
  void on_tick() override {
    const Duration now = world.elapsed();
    // While a command is played nobody looks, and what ended meanwhile did so at an unknown time.
    const bool looked = now - std::exchange(looked_, now) <= 2 * SeededWorld::kTick;
    if (world.is_disturbed() || !looked) calm_since_ = now;
    over_since_.resize(world.scenario.services.size());
    for (std::size_t i = 0; i < over_since_.size(); ++i) look_at(i);
  }

 private:
  void look_at(std::size_t i) {
    const Duration now = world.elapsed();
    const ServiceTruth& service = world.truth().services[i];
    if (!is_subject_over(world, i) || service.at_work.empty()) over_since_[i] = now;
    const Duration since = std::max(
        {over_since_[i], calm_since_, world.last_fault(), service.since, service.stopped_until});
    if (now - since <= kEndsWithin) return;
    violated(fmt::format("{} is at work, and its subject has been over for {}",
                         world.scenario.services[i].name, format_duration(now - over_since_[i])));
    over_since_[i] = now;
  }

  Duration calm_since_{};
  Duration looked_{};
  std::vector<Duration> over_since_;  // beside the plans
};

}  // namespace

std::unique_ptr<Check> make_service_ends_check(SeededWorld& world) {
  return std::make_unique<ServiceEnds>(world);
}

}  // namespace tend::sim
