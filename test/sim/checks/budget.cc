// Whoever dies again and again is held: no more resumes in half an hour than the policy grants,
// nor over all lives, and the one more that each hold ends with.
#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "checks/check.h"
#include "store/journal.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

class Resumes final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "budget"; }

  void on_end(const SimFacts& /*process*/, const Owner& owner) override {
    if (owner.is != Owner::Is::agent) return;
    ends_[owner.agent] = {.spends = spends(owner.agent), .at = world.elapsed()};
  }
  void on_life(const AgentTruth& agent) override {
    const std::string& name = agent.plan->name;
    const End end = std::exchange(ends_[name], {});
    const bool is_granted = held_.erase(name) > 0;
    if (agent.lives.size() < 2 || !end.spends) return;
    // Of an end that went with the power nobody knows: it counts as that of the machine.
    if (world.has_lost(name, kJournalFile, end.at)) return;
    const Budget& budget = agent.policy.budget;
    auto& began = began_[name];
    began.push_back(world.elapsed());
    while (world.elapsed() - began.front() > kWindow) began.pop_front();
    if (began.size() > budget.between_refills + 1) {
      violated(fmt::format("{} was brought back {} times within half an hour", name, began.size()));
    }
    if (is_granted) return;
    auto& spent = spent_[name];
    spent.push_back(world.elapsed());
    if (spent.size() > budget.per_agent) {
      violated(
          fmt::format("{} was brought back {} times, and never held for it", name, spent.size()));
    }
  }
  void on_tick() override {
    for (const auto& [name, agent] : world.truth().agents) {
      const auto says = world.heartbeat_of(name);
      if (says && says->verdict == Verdict::looping) held_.insert(name);
      if (world.has_lost(name, kJournalFile, world.elapsed() - SeededWorld::kTick)) forget(name);
    }
  }

 private:
  static constexpr Duration kWindow = 29min;
  static constexpr Duration kUnfitFor = 10min;  // after it could not look, or write
  static constexpr Duration kLooksAgain = 60s;  // after a start of the machine
  static constexpr Duration kLost = 2min;       // before a power cut

  struct End {
    bool spends = false;
    Duration at{};  // of the world
  };

  /// What was written last went with the power; a disk that lied may have taken all of it.
  void forget(const std::string& name) {
    const bool is_all = has_fault(world.scenario, {FaultKind::lying_disk});
    std::erase_if(spent_[name],
                  [&](Duration at) { return is_all || world.elapsed() - at < kLost; });
  }
  /// Its keeper had just come with the machine, and did not trust itself yet.
  [[nodiscard]] bool came_with_the_machine(const AgentTruth& agent) const {
    if (agent.lives.size() < 2) return false;
    const LifeTruth& last = agent.lives.back();
    const LifeTruth& before = agent.lives[agent.lives.size() - 2];
    return last.process.boot_id != before.process.boot_id &&
           world.elapsed() - last.since < kLooksAgain;
  }

  /// What dies with the machine, with its parent, in a provider's hold or while nobody can look
  /// spends nothing; nor does what a person ended, or whose account is lost.
  bool spends(const std::string& name) {
    const AgentTruth& agent = world.truth().agents.at(name);
    if (world.is_shutting_down() || world.is_disturbed()) return false;
    if (agent.stop_ordered || agent.is_paused || world.is_to_pause(name)) return false;
    if (world.processes_of(name, Owner::Is::keeper).empty()) return false;
    if (!agent.plan->parent.empty() && world.abandoned_since(agent.plan->parent)) return false;
    if (came_with_the_machine(agent)) return false;
    const auto doing = agent.lives.empty() ? std::nullopt : agent.lives.back().doing;
    if (doing == StepKind::rate_limit || doing == StepKind::overload) return false;
    if (doing == StepKind::limit_exit || doing == StepKind::retry_ladder) return false;
    if (agent.given_up && agent.given_up->life == agent.lives.back().number) return false;
    const Duration now = world.elapsed();
    return std::ranges::none_of(world.unfit(), [&](const Unfit& unfit) {
      const bool is_about_it = unfit.agent.empty() || unfit.agent == name;
      return is_about_it && unfit.from <= now && now < unfit.to + kUnfitFor;
    });
  }

  std::map<std::string, End> ends_;  // the last of each
  std::map<std::string, std::deque<Duration>> began_;
  std::map<std::string, std::vector<Duration>> spent_;  // over all lives, after no hold
  std::set<std::string> held_;                          // since its last life began
};

}  // namespace

std::unique_ptr<Check> make_budget_check(SeededWorld& world) {
  return std::make_unique<Resumes>(world);
}

}  // namespace tend::sim
