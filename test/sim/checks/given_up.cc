// Who gave up because the model did not answer is held and brought back when its time has come, or
// after a while where it named none, and none of its budget is spent for that.
#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "checks/check.h"
#include "store/agent_file.h"
#include "store/journal.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

class GivenUp final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "given up"; }

  void on_signal(const SimSent& sent, const Owner& /*sender*/, const Owner& to) override {
    if (ends(sent.kill) && to.is == Owner::Is::agent) told_to_end_ = sent.to;
  }
  void on_end(const SimFacts& process, const Owner& owner) override {
    const auto held = held_.find(owner.agent);
    if (owner.is == Owner::Is::keeper && held != held_.end())
      note_orphan(owner.agent, held->second);
    if (owner.is != Owner::Is::agent || process.exit.how != ExitStatus::How::code) return;
    if (process.id == told_to_end_) return;
    const AgentTruth& agent = world.truth().agents.at(owner.agent);
    if (!gave_up(agent)) return;
    const auto says = world.heartbeat_of(owner.agent);
    held_[owner.agent] = {.given_up = *agent.given_up,
                          .boot = process.id.boot_id,
                          .spent = says ? says->resumes_spent : 0,
                          .back = 0,
                          .was_orphan = false,
                          .missed = false,
                          .read = {}};
  }
  void on_life(const AgentTruth& agent) override {
    const auto held = held_.find(agent.plan->name);
    if (held == held_.end()) return;
    // What ended with the machine is begun with it, and an orphan with its parent, whoever refused
    // it before; and the end of one that was back, before anybody looked at what its return cost,
    // has a price of its own.
    note_orphan(agent.plan->name, held->second);
    if (agent.lives.back().process.boot_id != held->second.boot || held->second.back > 0 ||
        held->second.was_orphan) {
      held_.erase(held);
      return;
    }
    held->second.back = agent.lives.back().number;
    const Duration free = due(agent, held->second);
    if (is_free(agent) && was_heard(agent, held->second) && world.elapsed() < free - kSlack) {
      violated(fmt::format("{} was brought back {} s before its time", agent.plan->name,
                           (free - world.elapsed()) / 1s));
    }
  }
  void on_tick() override {
    for (auto held = held_.begin(); held != held_.end();) {
      const AgentTruth& agent = world.truth().agents.at(held->first);
      note_orphan(held->first, held->second);
      note_read(held->first, held->second);
      if (held->second.back > 0) {
        look_at_budget(agent, held->second);
        held = held_.erase(held);
        continue;
      }
      look_for_return(agent, held->second);
      ++held;
    }
  }

 private:
  struct Held {
    GivenUpTruth given_up;  // the agent's own is of its newest life, which may be refused again
    std::string boot;
    std::uint32_t spent = 0;  // before
    std::uint32_t back = 0;   // the life that goes on; 0: none yet
    bool was_orphan = false;  // it gave its parent up
    bool missed = false;
    std::optional<Duration> read;  // what it said, by a keeper
  };
  static constexpr Duration kSlack = 2s;
  static constexpr Duration kReturnMayTake = 4min;  // saving, a pause, and the keeper's pace
  /// Until somebody has put a keeper on again.
  const Duration after_fault_ =
      10min + (world.scenario.patrol > Duration::zero() ? SeededWorld::kRecoverBesidePatrol
                                                        : SeededWorld::kRecoverEvery);

  void note_orphan(const std::string& name, Held& held) const {
    const auto says = world.heartbeat_of(name);
    const bool is_orphan = says && (says->leaving || says->outcome == WorkOutcome::orphaned);
    held.was_orphan = held.was_orphan || is_orphan;
  }
  void note_read(const std::string& name, Held& held) const {
    if (!held.read && world.has_keeper(name)) held.read = world.elapsed();
  }
  static bool gave_up(const AgentTruth& agent) {
    return agent.given_up && !agent.lives.empty() &&
           agent.given_up->life == agent.lives.back().number;
  }
  /// When it may go on.
  [[nodiscard]] static Duration due(const AgentTruth& agent, const Held& held) {
    return held.given_up.until.value_or(held.given_up.at + agent.policy.limits.retry);
  }
  /// Nobody but the provider has a say in it.
  [[nodiscard]] bool is_free(const AgentTruth& agent) const {
    if (agent.stop_ordered || world.is_shutting_down()) return false;
    return !world.is_to_pause(agent.plan->name) && !agent.is_paused;
  }
  /// What it said was not lost, nor what was known of it.
  [[nodiscard]] bool was_heard(const AgentTruth& agent, const Held& held) const {
    const auto life = std::ranges::find(agent.lives, held.given_up.life, &LifeTruth::number);
    const auto went = [&](std::string_view file) {
      return world.has_lost(agent.plan->name, file, held.given_up.at);
    };
    return life != agent.lives.end() && !life->unheard && !went(kJournalFile) && !went(kStreamFile);
  }
  void look_at_budget(const AgentTruth& agent, const Held& held) {
    const LifeTruth* const life = agent.life();
    const auto says = world.heartbeat_of(agent.plan->name);
    if (life == nullptr || life->number != held.back || !says) return;
    if (!was_heard(agent, held) || says->resumes_spent <= held.spent) return;
    violated(fmt::format("{} was brought back after it gave up, and {} resumes are spent, not {}",
                         agent.plan->name, says->resumes_spent, held.spent));
  }
  void look_for_return(const AgentTruth& agent, Held& held) {
    const std::string& name = agent.plan->name;
    const auto says = world.heartbeat_of(name);
    if (held.missed || !is_free(agent) || (says && is_terminal(says->status))) return;
    if (!was_heard(agent, held) || !held.read) return;
    // A delay counts from when somebody read of it: nobody may have kept it when it was said.
    const Duration named = due(agent, held) + (*held.read - held.given_up.at);
    const Duration free = std::max(named, world.last_fault() + after_fault_);
    const Duration return_may_take = kReturnMayTake + 4 * world.universe.version_control_takes;
    if (world.elapsed() < free + return_may_take) return;
    held.missed = true;
    violated(fmt::format("{} could go on since {} s, and was not brought back", name,
                         (world.elapsed() - named) / 1s));
  }

  std::map<std::string, Held> held_;
  ProcessId told_to_end_;  // the last one
};

}  // namespace

std::unique_ptr<Check> make_given_up_check(SeededWorld& world) {
  return std::make_unique<GivenUp>(world);
}

}  // namespace tend::sim
