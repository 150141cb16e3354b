// When nothing has gone wrong for long, every agent is at work with a keeper, or over for a reason
// that can be read, or held with a person told. No process is left behind.
#include <fmt/format.h>

#include "checks/check.h"

namespace tend::sim {
namespace {

class NobodyLeft final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "nobody left"; }

  void on_settled() override {
    for (const auto& [name, agent] : world.truth().agents) {
      // A power cut takes a child that was asked for in that very moment.
      if (agent.asked_for && !world.folder_of(name).empty()) look_at(name, agent);
    }
  }

 private:
  void look_at(const std::string& name, const AgentTruth& agent) {
    const bool runs = !world.processes_of(name, Owner::Is::agent).empty();
    const bool kept = !world.processes_of(name, Owner::Is::keeper).empty();
    const auto says = world.heartbeat_of(name);
    const bool over = says && is_terminal(says->status);
    if (over && runs) violated(fmt::format("{} is over, and its process runs", name));
    if (!over && runs && !kept) violated(fmt::format("{} runs without a keeper", name));
    // Its registry may know of an end that a power cut took from its own files.
    const bool settled = agent.done && loses_files(world.scenario);
    if (!over && !runs && !kept && !agent.lives.empty() && !settled) {
      violated(fmt::format("{} is neither over nor kept: {}", name,
                           says ? word(says->verdict) : "no heartbeat"));
    }
    if (over && says->outcome == WorkOutcome::done && !agent.done && !agent.stop_ordered) {
      violated(fmt::format("{} counts as done, and its work is not", name));
    }
    if (agent.done && over && says->outcome != WorkOutcome::done && !agent.stop_ordered &&
        says->outcome != WorkOutcome::orphaned && !says->ended_by.contains("nobody saw") &&
        !loses_files(world.scenario)) {
      violated(fmt::format("{} did all its work, and counts as {}", name,
                           kWorkOutcomeWords[static_cast<std::size_t>(says->outcome)]));
    }
    if (over && !kept) look_for_helpers(name);
  }
  void look_for_helpers(const std::string& name) {
    const auto helpers = world.processes_of(name, Owner::Is::helper);
    if (!helpers.empty()) {
      violated(fmt::format("{} is over, and {} of its processes are left", name, helpers.size()));
    }
  }
};

}  // namespace

std::unique_ptr<Check> make_nobody_left_check(SeededWorld& world) {
  return std::make_unique<NobodyLeft>(world);
}

}  // namespace tend::sim
