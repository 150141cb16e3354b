// Who leads is left alone for as long as its lease has not run out, by the time that the machine
// was awake, and its holder lives: nobody else ends its program, whether it is stopped, slept or
// cannot be looked at. And who leads is in time: nothing is done on a renewal that is too old.
#include <algorithm>

#include <fmt/format.h>

#include "base/duration.h"
#include "checks/check.h"
#include "store/leases.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration kEndsWithin = 2s;  // a program, once its holder can do something again

class LeaseRobbed final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "led to its end"; }

  void on_signal(const SimSent& sent, const Owner& /*sender*/, const Owner& /*to*/) override {
    if (!ends(sent.kill) || sent.from == 0) return;
    const auto lead = std::ranges::find(world.truth().leads, sent.to, &LeadTruth::process);
    if (lead == world.truth().leads.end() || lead->over) return;
    if (world.truth().contenders[lead->contender].pid == sent.from) return;
    const ContenderPlan& plan = world.scenario.contenders[lead->contender];
    const auto record = lease_of(world, SeededWorld::kLease);
    const bool leads = record && record->held && record->fence == lead->fence && lives(*record);
    if (!plan.alone && (!leads || age_of(*record) >= record->ttl)) return;
    violated(fmt::format("{} is ended by process {} while it leads", plan.name, sent.from));
  }
  void on_act(const LeadTruth& lead) override {
    note_hindrance();
    const auto record = lease_of(world, SeededWorld::kLease);
    if (!record || record->fence != lead.fence || age_of(*record) <= record->ttl) return;
    if (is_excused(*record, world.truth().contenders[lead.contender])) return;
    violated(fmt::format("{} leads, and was last renewed {} ago",
                         world.scenario.contenders[lead.contender].name,
                         format_duration(age_of(*record))));
  }
  void on_tick() override { note_hindrance(); }

 private:
  [[nodiscard]] Duration age_of(const LeaseRecord& record) const {
    return world.awake() - record.renewed;
  }
  [[nodiscard]] RunState state_of(const LeaseRecord& record) const {
    const auto holder = world.universe.facts(record.holder.process.pid);
    return holder && holder->id == record.holder.process ? holder->state : RunState::gone;
  }
  [[nodiscard]] bool lives(const LeaseRecord& record) const {
    return state_of(record) == RunState::running || state_of(record) == RunState::stopped;
  }
  /// Where nobody can be looked at nobody can be ended, and a slow disk may keep whoever writes.
  /// Who waits for a database keeps all of a simulated machine.
  void note_hindrance() {
    const bool hinders = !world.universe.looking_fails.empty() ||
                         world.since_wrong(Wrong::busy_database) == Duration::zero() ||
                         world.universe.call_takes > Duration::zero() ||
                         world.universe.sync_takes > Duration::zero();
    if (hinders) hindered_until_ = world.elapsed() + kEndsWithin;
  }
  /// What its holder cannot do, because it was killed or stopped, its successor does.
  [[nodiscard]] bool is_excused(const LeaseRecord& record, const ContenderTruth& holder) const {
    return state_of(record) != RunState::running ||
           world.elapsed() <=
               std::max(holder.stopped_until + kEndsWithin, hindered_until_ + record.ttl);
  }

  Duration hindered_until_{};
};

}  // namespace

std::unique_ptr<Check> make_lease_robbed_check(SeededWorld& world) {
  return std::make_unique<LeaseRobbed>(world);
}

}  // namespace tend::sim
