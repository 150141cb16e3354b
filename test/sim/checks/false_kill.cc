// Nobody is ended who did something within the time it was given: the limit of what it is doing,
// and the second look. Ends by order, and of orphans after their grace, are no faults.
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "checks/check.h"

namespace tend::sim {
namespace {

class FalseKill final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "false kill"; }

  void on_tick() override { note_all_orphans(); }
  void on_kept_again(const std::string& agent, Duration without) override {
    note_orphans(world.truth().agents.at(agent), without);
  }
  void on_signal(const SimSent& sent, const Owner& sender, const Owner& to) override {
    if (!is_decided_end(sent, sender, to)) return;
    const AgentTruth& agent = world.truth().agents.at(to.agent);
    const LifeTruth* const life = agent.life();
    if (life == nullptr || life->process != sent.to) return;
    if (agent.stop_ordered || world.is_shutting_down()) return;
    if (is_of_one_end(sent, to.agent)) return;
    note_all_orphans();
    if (is_orphan(to.agent, *life)) return;
    const bool is_first = std::exchange(counted_[to.agent], life->process) != life->process;
    if (is_first) ++world.outcome().kills;
    if (life->leaving) return;
    const Duration silent = world.awake() - life->progressed;
    if (!life->hang && is_first) {
      ++world.outcome().false_kills;
      if (life->doing) ++world.outcome().false_kills_in[*life->doing];
      world.say(
          fmt::format("FALSE KILL {} in {}", to.agent,
                      kStepWords[static_cast<std::size_t>(life->doing.value_or(StepKind::think))]));
    }
    if (const std::string child = awaited_child(agent); !child.empty()) {
      violated(fmt::format("{} life {} was ended while it waited for {}, which is looked after",
                           to.agent, life->number, child));
    }
    if (was_asked(sent, agent) || left_work_lying(agent)) return;
    if (is_misheard(*life) || (life->patience != kNoLimit && silent >= life->patience - kSlack))
      return;
    violated(
        fmt::format("{} life {} was ended {} s after it did something; it may be silent for {}",
                    to.agent, life->number, seconds(silent),
                    life->patience == kNoLimit ? "ever" : seconds(life->patience) + " s"));
  }

 private:
  /// One end is several signals, within seconds of each other.
  bool is_of_one_end(const SimSent& sent, const std::string& agent) {
    const End before = std::exchange(ended_[agent], {sent.to, sent.from, world.elapsed()});
    return before.whom == sent.to && before.by == sent.from &&
           world.elapsed() - before.at < kBetweenSignals;
  }
  /// For a while after something that it printed was lost nobody knows what it is doing.
  [[nodiscard]] bool is_misheard(const LifeTruth& life) const {
    return life.unheard && life.progressed - life.lost < kHeardAgain;
  }
  /// It was one, or came to be one a moment ago: who has begun to leave ends.
  [[nodiscard]] bool is_orphan(const std::string& name, const LifeTruth& life) const {
    const auto orphan = orphaned_.find(name);
    if (orphan == orphaned_.end() || orphan->second.life != life.number) return false;
    const AgentTruth& agent = world.truth().agents.at(name);
    const Duration since = std::max(orphan->second.at, world.last_fault());
    return world.elapsed() - since < agent.policy.limits.grace + kLeavingMayTake;
  }
  void note_all_orphans() {
    for (const auto& [name, agent] : world.truth().agents) {
      const auto since = world.abandoned_since(name);
      if (since) note_orphans(agent, world.elapsed() - *since);
    }
  }

  /// Once they gave their parent up they end, even if it comes back.
  void note_orphans(const AgentTruth& parent, Duration abandoned) {
    for (const std::string& name : parent.children) {
      const AgentTruth& child = world.truth().agents.at(name);
      if (child.life() == nullptr) continue;
      if (abandoned < child.policy.limits.orphan - SeededWorld::kTick) continue;
      orphaned_[name] = {child.life()->number, world.elapsed()};
    }
  }

  /// A child that its lead waits for in a call, and that is at work or was left to a person: all
  /// can see it, and could for a while.
  [[nodiscard]] std::string awaited_child(const AgentTruth& agent) const {
    const LifeTruth& life = *agent.life();
    if (life.doing != StepKind::await || is_misheard(life)) return "";
    if (has_fault(world.scenario, {FaultKind::lying_disk})) return "";  // it may not know its own
    for (const std::string& child : agent.children) {
      const auto says = world.heartbeat_of(child);
      if (!says || is_terminal(says->status)) continue;
      if (world.processes_of(child, Owner::Is::keeper).empty()) continue;
      const bool at_work = says->verdict == Verdict::working || says->verdict == Verdict::waiting;
      const double age = calendar_seconds(world.wall()) - says->since;
      if ((at_work || says->person_told) && age > kSeen) return child;
    }
    return "";
  }

  /// By this very keeper, and it had all its time to answer: what another asked counts for nothing.
  [[nodiscard]] bool was_asked(const SimSent& sent, const AgentTruth& agent) const {
    const LifeTruth& life = *agent.life();
    const Duration may_take = agent.plan->probe.deadline + agent.policy.limits.confirm - kSlack;
    return std::ranges::any_of(life.questions, [&](const QuestionTruth& question) {
      return question.by == sent.from &&
             world.awake() - std::max(question.asked, life.progressed) >= may_take;
    });
  }

  /// It hangs, or somebody stopped it, and a message waits for it, or lies in its hand.
  [[nodiscard]] bool left_work_lying(const AgentTruth& agent) const {
    const LifeTruth& life = *agent.life();
    const Limits& limits = agent.policy.limits;
    const auto facts = world.universe.facts(life.process.pid);
    const bool is_stopped = facts && facts->id == life.process && facts->state == RunState::stopped;
    if (!life.hang && !is_stopped) return false;
    if (world.awake() - life.progressed < limits.idle + limits.confirm - kSlack) return false;
    for (std::size_t i = 0; i < world.scenario.messages.size(); ++i) {
      const MessagePlan& plan = world.scenario.messages[i];
      const auto sender = std::ranges::find(world.scenario.senders, plan.from, &SenderPlan::name);
      if (sender->agent != agent.plan->name) continue;
      const std::set<std::int64_t>& ids = world.truth().messages[i].ids;
      if (!ids.empty() && !world.truth().got.contains(*ids.begin())) return true;
    }
    return false;
  }

  static constexpr double kSeen = 120;
  static constexpr Duration kSlack = std::chrono::seconds{5};
  static std::string seconds(Duration time) {
    return fmt::format("{:.0f}", std::chrono::duration<double>(time).count());
  }

  struct Orphan {
    std::uint32_t life = 0;
    Duration at{};  // the last moment at which it was one
  };
  struct End {
    ProcessId whom;
    std::int64_t by = 0;
    Duration at{};  // of the last signal
  };
  static constexpr Duration kBetweenSignals = std::chrono::minutes{1};
  static constexpr Duration kHeardAgain = std::chrono::minutes{15};
  static constexpr Duration kLeavingMayTake = std::chrono::minutes{15};

  std::map<std::string, Orphan> orphaned_;
  std::map<std::string, End> ended_;
  std::map<std::string, ProcessId> counted_;  // by agent: whose end was counted last
};

}  // namespace

std::unique_ptr<Check> make_false_kill_check(SeededWorld& world) {
  return std::make_unique<FalseKill>(world);
}

}  // namespace tend::sim
