// Work is saved before its agent is ended: everything that it left uncommitted is in a snapshot.
#include <map>

#include <fmt/format.h>

#include "checks/check.h"
#include "store/agent_file.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

class PreservedFirst final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "work saved"; }

  void on_snapshot(const std::string& worktree, const SimRepository::Commit& commit) override {
    saved_[worktree] = commit;
  }
  void on_signal(const SimSent& sent, const Owner& sender, const Owner& to) override {
    if (!is_decided_end(sent, sender, to) || world.universe.disk.room) return;
    const AgentTruth& agent = world.truth().agents.at(to.agent);
    const LifeTruth* const life = agent.life();
    if (agent.worktree.empty() || life == nullptr || life->process != sent.to) return;
    const auto repository = world.universe.repositories.find(agent.worktree);
    if (repository == world.universe.repositories.end() || is_forgotten(agent)) return;
    for (const auto& [file, written] : agent.wrote) {
      const std::string path = agent.worktree + "/" + file;
      const auto text = world.universe.disk.read(path);
      if (!text || holds(repository->second.head, file, *text)) continue;
      // What it wrote while it was being saved is in the next snapshot, or the tree itself.
      if (world.elapsed() - written.at < kFresh) continue;
      const auto saved = saved_.find(agent.worktree);
      if (saved != saved_.end() && holds(saved->second.files, file, *text)) continue;
      return violated(fmt::format("{} life {} is ended and its file {} is saved nowhere", to.agent,
                                  life->number, file));
    }
  }

 private:
  static bool holds(const auto& files, const std::string& name, const std::string& text) {
    const auto file = files.find(name);
    return file != files.end() && file->second == text;
  }
  /// A disk that lies may have lost where it works.
  [[nodiscard]] bool is_forgotten(const AgentTruth& agent) const {
    if (!has_fault(world.scenario, {FaultKind::lying_disk})) return false;
    const auto text = world.universe.disk.read(agent.folder + "/" + std::string(kAgentFile));
    const auto known = text ? parse_agent_file(*text) : fail("gone");
    return !known || known->worktree != agent.worktree;
  }

  static constexpr Duration kFresh = 3min;
  std::map<std::string, SimRepository::Commit> saved_;  // by work tree: the last one
};

}  // namespace

std::unique_ptr<Check> make_preserved_check(SeededWorld& world) {
  return std::make_unique<PreservedFirst>(world);
}

}  // namespace tend::sim
