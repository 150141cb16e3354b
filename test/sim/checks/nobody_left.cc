// When nothing has gone wrong for long, every agent is at work with a keeper, or over for a reason
// that can be read, or held with a person told. No process is left behind.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "checks/check.h"
#include "run/child_look.h"
#include "store/agent_file.h"
#include "store/children.h"
#include "store/intent.h"
#include "store/journal.h"

namespace tend::sim {
namespace {

class NobodyLeft final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "nobody left"; }

  void on_end(const SimFacts& process, const Owner& owner) override {
    if (owner.is != Owner::Is::agent) return;
    left_well_.erase(owner.agent);
    const bool is_good = process.exit.how == ExitStatus::How::code && process.exit.value == 0;
    if (is_good && can_be_seen(owner.agent)) left_well_.insert(owner.agent);
    ended_[owner.agent] = world.elapsed();
    if (can_be_seen(owner.agent)) unseen_.erase(owner.agent);
  }
  void on_life(const AgentTruth& agent) override {
    unseen_[agent.plan->name] = world.universe.boot_id();
  }
  void on_tick() override {
    std::erase_if(unseen_, [this](const auto& one) {
      const auto& [name, boot] = one;
      return boot == world.universe.boot_id() &&
             world.processes_of(name, Owner::Is::agent).empty() &&
             (world.is_over(name) || can_be_seen(name));
    });
  }
  void on_settled() override {
    for (const auto& [name, agent] : world.truth().agents) {
      // A power cut takes a child that was asked for in that very moment.
      if (agent.asked_for && !world.folder_of(name).empty() && !is_lost(name)) look_at(name, agent);
    }
  }

 private:
  static constexpr Duration kCureMayTake = std::chrono::hours{2};
  static constexpr Duration kReturnMayTake = std::chrono::minutes{5};  // saving, then a pause
  static constexpr Duration kSeenWithin = std::chrono::minutes{1};     // two beats of a keeper
  static constexpr const char* kNameLost =
      "its name was given to another agent while it counted as over";

  /// A keeper that runs can look at it, and could for long enough.
  [[nodiscard]] bool can_be_seen(const std::string& name) const {
    return world.since_wrong(Wrong::blind) >= kSeenWithin &&
           std::ranges::any_of(
               world.processes_of(name, Owner::Is::keeper),
               [this](std::int64_t keeper) { return !world.keeper_is_paused(keeper); });
  }
  /// With the machine goes the exit of whom nobody could look at before, or nobody wrote down.
  [[nodiscard]] bool is_end_unknown(const std::string& name, const Heartbeat& says) {
    if (says.ended_by != "a restart of the machine") return says.ended_by.contains("nobody saw");
    return unseen_.contains(name) || (world.has_lost(name, kHeartbeatFile, ended_[name]) &&
                                      world.has_lost(name, kJournalFile, ended_[name]));
  }
  /// A disk that lied has taken all that was known of it, and whoever recovers is told so.
  [[nodiscard]] bool is_lost(const std::string& name) const {
    if (!world.processes_of(name, Owner::Is::agent).empty()) return false;
    const auto text = world.universe.disk.read(world.folder_of(name) + "/agent.json");
    return has_fault(world.scenario, {FaultKind::lying_disk}) &&
           (!text || !parse_agent_file(*text));
  }
  [[nodiscard]] bool is_settled_above(const AgentTruth& agent) const {
    if (agent.plan->parent.empty()) return false;
    const std::string registry =
        world.folder_of(agent.plan->parent) + "/" + std::string(kChildrenFile);
    std::istringstream lines(world.universe.disk.read(registry).value_or(""));
    bool settled = false;
    for (std::string text; std::getline(lines, text);) {
      const auto line = parse_child_line(text);
      if (line && line->agent == agent.plan->name) settled = is_settled(line->status);
    }
    return settled;
  }
  void look_at(const std::string& name, const AgentTruth& agent) {
    const bool runs = !world.processes_of(name, Owner::Is::agent).empty();
    const bool kept = !world.processes_of(name, Owner::Is::keeper).empty();
    const auto says = world.heartbeat_of(name);
    const bool over = says && is_terminal(says->status);
    if (over && runs) violated(fmt::format("{} is over, and its process runs", name));
    if (!over && runs && !kept) violated(fmt::format("{} runs without a keeper", name));
    // Its parent may know of an end that a power cut took from its own files.
    const bool settled =
        world.has_lost(name, kHeartbeatFile) && (agent.done || is_settled_above(agent));
    if (!over && !runs && !kept && !agent.lives.empty() && !settled) {
      violated(fmt::format("{} is neither over nor kept: {}", name,
                           says ? word(says->verdict) : "no heartbeat"));
    }
    const bool unheard = std::ranges::any_of(agent.lives, &LifeTruth::unheard);
    if (over && says->outcome == WorkOutcome::done && agent.did_nothing && says->note.empty() &&
        !unheard) {
      violated(fmt::format("{} did nothing, and nobody doubts that it is done", name));
    }
    if (over && says->outcome == WorkOutcome::done && agent.lives.back().was_denied &&
        says->note.empty() && !unheard) {
      violated(fmt::format("{} was denied something, and nobody says so", name));
    }
    // Whoever is told to end may leave as if its work were done: by whose order has to be known.
    const bool is_order_lost = world.has_lost(name, kIntentFile, ended_[name]);
    if (over && says->outcome == WorkOutcome::done && !agent.done && !agent.did_nothing &&
        !agent.stop_ordered && !unheard && !is_order_lost) {
      violated(fmt::format("{} counts as done, and its work is not", name));
    }
    // Who was an orphan by then was ended with all its work done, unless it left by itself.
    const bool was_ended =
        says && says->outcome == WorkOutcome::orphaned && !left_well_.contains(name);
    if (agent.done && over && says->outcome != WorkOutcome::done && !agent.stop_ordered &&
        !was_ended && !is_end_unknown(name, *says)) {
      violated(fmt::format("{} did all its work, and counts as {}", name,
                           kWorkOutcomeWords[static_cast<std::size_t>(says->outcome)]));
    }
    if (over && !agent.done) look_for_failure(name, agent, *says);
    // The hold of one that looped may have ended long after its process.
    const Duration return_may_take = kReturnMayTake + 4 * world.universe.version_control_takes;
    const std::chrono::duration<double> dead_for(says ? calendar_seconds(world.wall()) - says->since
                                                      : 0);
    const bool just_died =
        world.elapsed() - ended_[name] < return_may_take || dead_for < return_may_take;
    if (!over && !runs && kept && says && says->verdict == Verdict::dead && says->next.empty() &&
        says->outcome == WorkOutcome::none && !just_died && !world.is_to_pause(name)) {
      violated(fmt::format("{} is dead, and nobody brings it back", name));
    }
    if (!over && !kept && agent.lives.empty() && !agent.stop_ordered && world.is_registered(name)) {
      violated(fmt::format("{} was asked for, and never began", name));
    }
    if (over && says->outcome == WorkOutcome::orphaned && !kept) look_for_parent(name, agent);
    if (!over && says && runs) look_for_hang(name, agent, *says);
    if (over && !kept) look_for_helpers(name);
  }
  /// Who is brought back when it fails is not over for that.
  void look_for_failure(const std::string& name, const AgentTruth& agent, const Heartbeat& says) {
    if (says.outcome == WorkOutcome::done || says.outcome == WorkOutcome::orphaned) return;
    if (agent.stop_ordered || agent.lives.empty() || says.ended_by == kNameLost) return;
    if (!is_brought_back(name)) return;
    // That it was to end the journal knows; by whose order, a disk may have lost.
    if (says.outcome == WorkOutcome::stopped && world.has_lost(name, kIntentFile, ended_[name])) {
      return;
    }
    // Who ended with the machine comes back with its lead.
    if (says.ended_by == kShutdownWords && is_stopped_above(agent)) return;
    violated(fmt::format("{} counts as {} ({}), and its work is not done", name,
                         kWorkOutcomeWords[static_cast<std::size_t>(says.outcome)], says.ended_by));
  }
  [[nodiscard]] bool is_stopped_above(const AgentTruth& agent) const {
    if (agent.plan->parent.empty()) return false;
    const AgentTruth& parent = world.truth().agents.at(agent.plan->parent);
    return parent.stop_ordered || is_stopped_above(parent);
  }
  [[nodiscard]] bool is_brought_back(const std::string& name) const {
    const auto text = world.universe.disk.read(world.folder_of(name) + "/agent.json");
    const auto file = text ? parse_agent_file(*text) : fail("gone");
    return file && file->restart != RestartPolicy::never;
  }
  /// Who ended for want of a parent goes on when that one is back.
  void look_for_parent(const std::string& name, const AgentTruth& agent) {
    if (agent.plan->parent.empty() || agent.lives.empty()) return;
    const AgentTruth& parent = world.truth().agents.at(agent.plan->parent);
    if (parent.lives.empty() || parent.stop_ordered || agent.stop_ordered || agent.done) return;
    if (parent.lives.back().began <= agent.lives.back().progressed) return;
    const bool is_back = !world.processes_of(agent.plan->parent, Owner::Is::keeper).empty();
    const auto above = world.heartbeat_of(agent.plan->parent);
    const bool came_to_its_end = above && above->outcome == WorkOutcome::done;
    const auto says = world.heartbeat_of(name);
    const bool is_spent = says->resumes_allowed > 0 && says->resumes_spent >= says->resumes_allowed;
    if ((is_back || came_to_its_end) && !is_spent) {
      violated(fmt::format("{} ended without {}, which came back", name, agent.plan->parent));
    }
  }
  /// One that is known to hang is cured of it, or left to a person.
  void look_for_hang(const std::string& name, const AgentTruth& agent, const Heartbeat& says) {
    const LifeTruth* const life = agent.life();
    if (life == nullptr || !life->hang || agent.is_paused || says.person_told) return;
    const HangTruth& hang = world.truth().hangs[*life->hang];
    if (hang.known == Duration::zero() || world.elapsed() - hang.known < kCureMayTake) return;
    violated(fmt::format("{} hangs ({}), which is known, and nothing is done", name,
                         kStepWords[static_cast<std::size_t>(hang.kind)]));
  }
  void look_for_helpers(const std::string& name) {
    const auto helpers = world.processes_of(name, Owner::Is::helper);
    if (!helpers.empty()) {
      violated(fmt::format("{} is over, and {} of its processes are left", name, helpers.size()));
    }
  }

  std::map<std::string, Duration, std::less<>> ended_;  // awake time of the last end of each
  std::set<std::string, std::less<>> left_well_;        // in their last life, as a keeper saw
  // Of whose last life no keeper can have seen the end: in which boot it was.
  std::map<std::string, std::string> unseen_;
};

}  // namespace

std::unique_ptr<Check> make_nobody_left_check(SeededWorld& world) {
  return std::make_unique<NobodyLeft>(world);
}

}  // namespace tend::sim
