// What was begun comes to its end while nothing goes wrong: who is being ended is soon gone, and
// nobody works on for a parent that is gone.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "checks/check.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

class CarriedOut final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "carried out"; }

  void on_signal(const SimSent& sent, const Owner& sender, const Owner& to) override {
    if (!is_decided_end(sent, sender, to)) return;
    const LifeTruth* const life = world.truth().agents.at(to.agent).life();
    if (life == nullptr || life->process != sent.to) return;
    const auto known = ending_.find(to.agent);
    if (known != ending_.end() && known->second.process == life->process) return;
    ending_[to.agent] = {life->process, world.elapsed(), world.awake()};
  }
  /// The next keeper may be there before anybody sees that this one is not.
  void on_end(const SimFacts& /*process*/, const Owner& owner) override {
    if (owner.is == Owner::Is::keeper) note_left(owner.agent);
  }
  void on_tick() override {
    if (may_be_stopped_) note_orders();
    for (const auto& [name, agent] : world.truth().agents) {
      if (agent.life() == nullptr || !is_at_stake(name, agent)) continue;
      if (!is_looked_after(name)) {
        note_left(name);
        continue;
      }
      look_for_end(name, agent);
      look_for_orphan(name, agent);
      look_for_stop(name);
    }
  }

 private:
  struct Begun {
    ProcessId process;  // a life whose record was torn has the number of the next one
    Duration at{};
    Duration awake{};       // the same moment, by the time that the machine was awake
    bool was_left = false;  // nobody looked after it for a while
  };
  static constexpr Duration kEndMayTake = 10min;   // three signals, and the saving of work
  static constexpr Duration kGraceMayTake = 4min;  // the look, and the saving of work

  /// Whoever comes has its time from there.
  void note_left(const std::string& name) {
    left_[name] = world.elapsed();
    const auto begun = ending_.find(name);
    if (begun == ending_.end()) return;
    begun->second.at = world.elapsed();
    begun->second.was_left = true;
  }
  /// Something of it is to come to its end; of most nothing is.
  [[nodiscard]] bool is_at_stake(const std::string& name, const AgentTruth& agent) const {
    return ending_.contains(name) || to_stop_.contains(name) || to_stop_below_.contains(name) ||
           (!agent.plan->parent.empty() && world.abandoned_since(agent.plan->parent));
  }
  [[nodiscard]] bool is_looked_after(const std::string& name) const {
    const auto keepers = world.processes_of(name, Owner::Is::keeper);
    return keepers.size() == 1 && !world.keeper_is_paused(keepers.front()) &&
           !world.is_to_pause(name) && !world.is_shutting_down();
  }
  /// Nothing went wrong since then.
  [[nodiscard]] bool was_calm(Duration since) const { return world.last_fault() <= since + 1s; }
  /// Who rests is ended for a question that it did not answer, and every keeper asks its own.
  [[nodiscard]] static Duration end_may_take(const AgentTruth& agent, const Begun& begun) {
    const ProbePlan& probe = agent.plan->probe;
    if (!begun.was_left || !agent.plan->is_asked()) return kEndMayTake;
    return kEndMayTake + probe.interval + 2 * probe.deadline + agent.policy.limits.confirm;
  }
  void look_for_end(const std::string& name, const AgentTruth& agent) {
    const LifeTruth& life = *agent.life();
    const auto begun = ending_.find(name);
    if (begun == ending_.end() || begun->second.process != life.process) return;
    // Who outlived its keeper's end and works again is judged anew.
    if (begun->second.was_left && life.progressed > begun->second.awake) {
      ending_.erase(begun);
      return;
    }
    // Whose end was broken off because many are silent is left to a person for as long.
    if (are_many_silent(world)) note_left(name);
    // Who is held, and a person was told, is not ended before that is over.
    const auto says = world.heartbeat_of(name);
    if (begun->second.was_left && says && says->verdict == Verdict::looping) note_left(name);
    const Duration may_take = end_may_take(agent, begun->second);
    if (world.elapsed() - begun->second.at < may_take || !was_calm(begun->second.at)) return;
    violated(fmt::format("{} life {} is being ended since {} s, and runs", name, life.number,
                         (world.elapsed() - begun->second.at) / 1s));
    ending_.erase(begun);
  }
  void look_for_orphan(const std::string& name, const AgentTruth& agent) {
    if (agent.plan->parent.empty() || told_.contains(name)) return;
    auto since = world.abandoned_since(agent.plan->parent);
    const Limits& limits = agent.policy.limits;
    if (const auto left = left_.find(name); since && left != left_.end()) {
      since = std::max(*since, left->second);
    }
    if (!since || world.elapsed() - *since < limits.orphan + limits.grace + kGraceMayTake) return;
    // It must have had a keeper all the time, and nothing else be wrong with it.
    const auto says = world.heartbeat_of(name);
    const bool is_fit = says && says->verdict != Verdict::unknown && says->asks_parent == false;
    if (!is_fit || !was_calm(*since) || world.awake() - agent.life()->began < kGraceMayTake) return;
    told_[name] = true;
    violated(fmt::format("{} works for {}, which is gone since {} s", name, agent.plan->parent,
                         (world.elapsed() - *since) / 1s));
  }

  // --- Orders to stop ---------------------------------------------------------------------------

  void note_orders() {
    for (const auto& [name, agent] : world.truth().agents) {
      const StopOrder order = order_to(world, agent);
      if (order.stop) {
        note_order(name, order.tree);
      } else {
        to_stop_.erase(name);
      }
    }
  }
  void note_order(const std::string& name, bool with_all_below) {
    to_stop_.emplace(name, world.elapsed());
    if (with_all_below) note_order_below(name);
  }
  void note_order_below(const std::string& name) {
    for (const std::string& child : world.truth().agents.at(name).children) {
      to_stop_below_.emplace(child, world.elapsed());
      note_order_below(child);
    }
  }
  void look_for_stop(const std::string& name) {
    const auto own = to_stop_.find(name);
    const auto from_above = to_stop_below_.find(name);
    if (own == to_stop_.end() && from_above == to_stop_below_.end()) return;
    const Duration since = own != to_stop_.end() ? own->second : from_above->second;
    if (world.elapsed() - since < kStopMayTake || !was_calm(since)) return;
    if (!told_.emplace(name, true).second) return;
    violated(
        fmt::format("{} is to stop since {} s, and runs", name, (world.elapsed() - since) / 1s));
  }
  static constexpr Duration kStopMayTake = 30min;  // level by level, the work of each saved

  const bool may_be_stopped_ =
      has_fault(world.scenario, {FaultKind::stop_order, FaultKind::stop_tree_order});
  std::map<std::string, Duration> to_stop_;
  std::map<std::string, Duration> to_stop_below_;
  std::map<std::string, Begun> ending_;
  std::map<std::string, Duration> left_;  // when nobody looked after it, the last time
  std::map<std::string, bool> told_;
};

}  // namespace

std::unique_ptr<Check> make_carried_out_check(SeededWorld& world) {
  return std::make_unique<CarriedOut>(world);
}

}  // namespace tend::sim
