// Who leads and renews is left alone: nobody else ends its program, as long as it runs and nothing
// goes wrong. And who leads is in time: its program does not act on a renewal that is too old.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/duration.h"
#include "checks/check.h"
#include "store/lease_files.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

class LeaseRobbed final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "led to its end"; }

  void on_signal(const SimSent& sent, const Owner& /*sender*/, const Owner& /*to*/) override {
    if (!ends(sent.kill) || sent.from == 0) return;
    const auto lead = std::ranges::find(world.truth().leads, sent.to, &LeadTruth::process);
    if (lead == world.truth().leads.end() || lead->over) return;
    const ContenderTruth& holder = world.truth().contenders[lead->contender];
    if (holder.pid == sent.from || !is_at_it(*lead)) return;
    violated(fmt::format("{} is ended by process {} while it leads",
                         world.scenario.contenders[lead->contender].name, sent.from));
  }
  void on_tick() override {
    note_stops();
    for (const LeadTruth& lead : world.truth().leads) {
      if (lead.over || !is_at_it(lead)) continue;
      const auto renewed = renewed_at(lead.fence);
      const ContenderPlan& plan = world.scenario.contenders[lead.contender];
      if (!renewed || world.awake() - *renewed <= plan.ttl) continue;
      violated(fmt::format("{} leads, and was last renewed {} ago", plan.name,
                           format_duration(world.awake() - *renewed)));
    }
  }

 private:
  /// Its holder runs, and did all the time in which a renewal is good.
  [[nodiscard]] bool is_at_it(const LeadTruth& lead) const {
    const ContenderTruth& holder = world.truth().contenders[lead.contender];
    if (holder.pid == 0 || !holder.leads || world.is_disturbed()) return false;
    if (troubles() != troubles_) return false;
    const auto facts = world.universe.facts(holder.pid);
    if (!facts || facts->state != RunState::running) return false;
    const auto program = world.universe.facts(lead.process.pid);
    if (!program || program->state != RunState::running) return false;
    return world.elapsed() - stopped_ > 2 * world.scenario.contenders[lead.contender].ttl + 1min;
  }
  /// So far. A sleep and a step of the calendar are none: they excuse nobody.
  [[nodiscard]] std::uint64_t troubles() const {
    std::uint64_t many = 0;
    for (const auto& [kind, times] : world.outcome().faults) {
      if (kind != FaultKind::sleep && kind != FaultKind::clock_step) many += times;
    }
    return many;
  }
  void note_stops() {
    const auto is_stopped = [this](std::int64_t pid) {
      const auto facts = world.universe.facts(pid);
      return pid != 0 && facts && facts->state == RunState::stopped;
    };
    const bool any =
        world.is_disturbed() || std::exchange(troubles_, troubles()) != troubles() ||
        std::ranges::any_of(world.truth().contenders, is_stopped, &ContenderTruth::pid) ||
        std::ranges::any_of(world.truth().leads, [&](const LeadTruth& lead) {
          return !lead.over && is_stopped(lead.process.pid);
        });
    if (any) stopped_ = world.elapsed();
  }
  /// What the newest record says, if it is of that fence.
  [[nodiscard]] std::optional<Duration> renewed_at(std::uint64_t fence) const {
    const std::string folder = fmt::format("{}/{}/", SeededWorld::kHome, kLeasesFolder);
    std::optional<LeaseRecord> newest;
    for (const std::string& path : world.universe.disk.files(folder)) {
      const auto text = world.universe.disk.read(path);
      if (!text || !path.ends_with(".json")) continue;
      auto record = parse_lease(*text);
      if (record && (!newest || record->version > newest->version)) newest = *std::move(record);
    }
    if (!newest || newest->fence != fence) return std::nullopt;
    return newest->renewed;
  }

  Duration stopped_{};
  std::uint64_t troubles_ = 0;  // as of the last look
};

}  // namespace

std::unique_ptr<Check> make_lease_robbed_check(SeededWorld& world) {
  return std::make_unique<LeaseRobbed>(world);
}

}  // namespace tend::sim
