// A message is held only while its agent is down, or has not answered since; nothing is held for
// one that is well, and nothing is handed to one that came back and has not answered.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "checks/check.h"
#include "run/gate_desk.h"
#include "store/life_record.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

class GateHeld final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "held only when down"; }

  void on_received(std::size_t message, const ReceiveAnswer& answer) override {
    using enum ReceiveAnswer::Action;
    if (answer.action == rejected) violated(fmt::format("message {} was not kept", message));
    if (answer.action != held && answer.action != auto_replied) return;
    const AgentTruth& agent = world.truth().agents.at(answer.message.agent);
    const LifeTruth* const life = agent.life();
    const bool is_kept =
        !world.processes_of(answer.message.agent, Owner::Is::keeper).empty() || answer.mode.kept;
    if (life != nullptr && !is_kept && is_recorded(agent, *life)) {
      violated(fmt::format("message {} is held, and {}, which nobody keeps, runs", message,
                           answer.message.agent));
    }
    if (!is_well_for(world, agent, kKnowingMayTake)) return;
    const bool is_overdue = life->patience != kNoLimit &&
                            world.awake() - life->progressed >= life->patience - kKnowingMayTake;
    if (is_overdue) return;
    violated(fmt::format("message {} is held, and {} is well", message, answer.message.agent));
  }
  void on_message(const AgentTruth& agent, std::int64_t id, std::int64_t /*by*/,
                  std::string_view /*words*/) override {
    const LifeTruth& life = *agent.life();
    if (life.number == 1 || life.answered) return;
    violated(fmt::format("message {} is handed to life {} of {}, which has not answered", id,
                         life.number, agent.plan->name));
  }
  void on_settled() override {
    const auto database = home_database_of(world);
    if (!database) return;
    Gate gate(*database);
    for (const auto& [name, agent] : world.truth().agents) {
      if (!agent.plan->is_asked() || !is_well_for(world, agent, kReleaseMayTake)) continue;
      const auto held = gate.list(name, MessageState::held, 1);
      if (held && !held->empty()) {
        violated(fmt::format("message {} is held, and {} is well", held->front().id, name));
      }
      const auto outage = gate.open_outage(name);
      if (outage && *outage) violated(fmt::format("an outage of {} did not end", name));
    }
  }

 private:
  /// Of a life whose record was torn nobody can know.
  [[nodiscard]] bool is_recorded(const AgentTruth& agent, const LifeTruth& life) const {
    const std::string path = world.folder_of(agent.plan->name) + "/" + std::string(kLockFile);
    const auto record = world.universe.disk.read(path);
    if (!record || !record->contains(std::to_string(life.process.pid))) return false;
    return nlohmann::json::accept(record->substr(0, record->find('\n')));
  }
  static constexpr Duration kKnowingMayTake = 2min;
  static constexpr Duration kReleaseMayTake = 15min;
};

}  // namespace

std::unique_ptr<Check> make_gate_held_check(SeededWorld& world) {
  return std::make_unique<GateHeld>(world);
}

}  // namespace tend::sim
