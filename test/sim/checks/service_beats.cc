// While nothing goes wrong and its subject is at work, a beat is written in every interval.
#include <vector>

#include <fmt/format.h>

#include "base/duration.h"

#include "checks/check.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration kCalm = 2min;
constexpr Duration kSlack = 1min;

class ServiceBeats final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "beats in time"; }

  void on_beat(const BeatTruth& beat) override {
    beat_.resize(world.scenario.services.size());
    beat_[beat.service] = world.elapsed();
  }
  void on_tick() override {
    const Duration now = world.elapsed();
    beat_.resize(world.scenario.services.size());
    for (std::size_t i = 0; i < beat_.size(); ++i) {
      const ServiceTruth& service = world.truth().services[i];
      // What its subject's entry says of a time, and what its process says, are of two calendars.
      const bool can_tell = !world.was_calendar_set(service.guest_since, service.since);
      const bool is_due = can_tell && is_subject_at_work(world, i) && service.at_work.size() == 1 &&
                          now >= service.stopped_until && !world.is_disturbed() &&
                          now - world.last_fault() > kCalm && !is_torn_;
      if (!is_due) beat_[i] = now;
      if (now - beat_[i] <= world.scenario.services[i].interval + kSlack) continue;
      violated(fmt::format("{} has not beaten for {}", world.scenario.services[i].name,
                           format_duration(now - beat_[i])));
      beat_[i] = now;
    }
  }

 private:
  std::vector<Duration> beat_;  // beside the plans
  // A disk that lied may have left half of a store, which nobody but its owner may mend.
  const bool is_torn_ = has_fault(world.scenario, {FaultKind::lying_disk});
};

}  // namespace

std::unique_ptr<Check> make_service_beats_check(SeededWorld& world) {
  return std::make_unique<ServiceBeats>(world);
}

}  // namespace tend::sim
