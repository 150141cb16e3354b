// Work that is finished comes home exactly once, its lead hears of that once, and nothing that was
// written is lost on the way.
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "checks/check.h"
#include "store/children.h"

namespace tend::sim {
namespace {

class MergedOnce final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "merged once"; }

  void on_merge(const std::string& into, const SimRepository::Commit& merge) override {
    if (merge.parents.size() != 2) return;
    if (!merged_.emplace(into, merge.parents[1]).second) {
      violated(fmt::format("{} was merged twice into {}", merge.parents[1], into));
    }
  }
  void on_settled() override {
    for (const auto& [name, agent] : world.truth().agents) {
      look_at(name, agent);
      look_at_tellings(name);
    }
  }

 private:
  void look_at(const std::string& name, const AgentTruth& agent) {
    for (const auto& [file, written] : agent.wrote) {
      if (world.universe.disk.read(agent.worktree + "/" + file) != written.text) {
        violated(fmt::format("{} wrote {}, and it is not so in its work tree", name, file));
      }
    }
    const std::string& parent = agent.plan->parent;
    if (!agent.plan->own_worktree || !agent.done || agent.wrote.empty() || parent.empty()) return;
    const AgentTruth& lead = world.truth().agents.at(parent);
    if (lead.worktree.empty() || lead.stop_ordered) return;
    const auto above = world.heartbeat_of(parent);
    if (!above || !is_terminal(above->status) || above->outcome != WorkOutcome::done) return;
    const auto says = world.heartbeat_of(name);
    if (!says || says->outcome != WorkOutcome::done) return;
    const auto repository = world.universe.repositories.find(lead.worktree);
    // Whose merge it is only its announcement says.
    const bool can_tell = !has_fault(world.scenario, {FaultKind::lying_disk}) ||
                          !world.has_lost(parent, kChildrenFile);
    if (can_tell && repository != world.universe.repositories.end() &&
        !repository->second.merging.empty()) {
      return violated(fmt::format("{} is over, and {} is left in the middle of a merge", parent,
                                  lead.worktree));
    }
    for (const auto& [file, written] : agent.wrote) {
      const auto home = world.universe.disk.read(lead.worktree + "/" + file);
      if (home == written.text || is_told(parent, name)) continue;
      violated(fmt::format("{} finished, {} is over, and its file {} did not come home", name,
                           parent, file));
    }
  }
  /// What a life of a child did is home when its lead was told so, and nobody goes for it again.
  void look_at_tellings(const std::string& lead) {
    std::map<std::pair<std::string, int>, int> told;
    each_message(lead, [&](const nlohmann::json& said) {
      if (said.value("kind", "") != "child-merged") return;
      const std::string child = said.value("from", "");
      if (++told[{child, said.value("life", 0)}] == 2) {
        violated(fmt::format("{} was told twice that the work of {} is home", lead, child));
      }
    });
  }
  /// What could not be merged waits on its branch, and the lead was told; or, where nothing could
  /// be written to the lead, whoever recovers is told every time.
  [[nodiscard]] bool is_told(const std::string& parent, const std::string& child) const {
    if (world.recovery_said().contains(fmt::format("unmerged  {}: ", child))) return true;
    bool told = false;
    each_message(parent, [&](const nlohmann::json& said) {
      told |= said.value("kind", "") == "child-unmerged" && said.value("from", "") == child;
    });
    return told;
  }
  template <class Visit>
  void each_message(const std::string& to, const Visit& visit) const {
    const auto inbox = world.universe.disk.read(world.folder_of(to) + "/inbox.jsonl");
    std::istringstream lines(inbox.value_or(""));
    for (std::string line; std::getline(lines, line);) {
      const auto json = nlohmann::json::parse(line, nullptr, false);
      if (json.is_object()) visit(json);
    }
  }

  std::set<std::pair<std::string, std::string>> merged_;
};

}  // namespace

std::unique_ptr<Check> make_merged_once_check(SeededWorld& world) {
  return std::make_unique<MergedOnce>(world);
}

}  // namespace tend::sim
