// A beat is written only for one that is there and at work in that very moment: for no process that
// is gone or stopped, for no agent that its keeper does not vouch for, and into no entry or lease
// of another.
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "checks/check.h"

namespace tend::sim {
namespace {

class ServiceLiving final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "beats for the living"; }

  /// A power cut may have taken beats before it began.
  void on_service(std::size_t service) override { changed_in_registry(service); }
  void on_beat(const BeatTruth& beat) override {
    const std::string& who = world.scenario.services[beat.service].name;
    if (!is_subject_at_work(world, beat.service)) {
      violated(fmt::format("{} beats ({}) for one that is not at work", who, beat.part));
    }
    if (const std::string other = beaten_in(beat); !other.empty()) {
      violated(fmt::format("{} beats ({}) for {}", who, beat.part, other));
    }
  }

 private:
  using Json = nlohmann::json;

  /// Whose beat it is, if it is not its subject's.
  std::string beaten_in(const BeatTruth& beat) {
    const ServiceTruth& truth = world.truth().services[beat.service];
    if (beat.part == SeededWorld::kRegistryPart) return changed_in_registry(beat.service);
    if (beat.part == SeededWorld::kForeignLeasePart) {
      const Json lease = Json::parse(world.foreign_lease_text(beat.service), nullptr, false);
      const std::string leader = lease.is_object() ? lease.value("leader_id", "") : "";
      return leader == truth.subject_id ? "" : "the leader " + leader;
    }
    if (!beat.part.starts_with("lease ")) return "";
    const auto record = lease_of(world, beat.part.substr(beat.part.find(' ') + 1).c_str());
    if (record && record->holder.process == truth.subject) return "";
    return "another holder";
  }
  std::string changed_in_registry(std::size_t service) {
    const Json all = Json::parse(world.registry_text(service), nullptr, false);
    if (!all.is_object()) return "";
    std::string changed;
    for (const Json& entry : all.value("agents", Json::array())) {
      const std::string id = entry.value("agent_id", "");
      const std::string beat = entry.value("last_heartbeat", "");
      const auto [known, fresh] = beats_.emplace(std::pair(service, id), beat);
      if (fresh || std::exchange(known->second, beat) == beat) continue;
      if (id != world.truth().services[service].subject_id) changed = id;
    }
    return changed;
  }

  std::map<std::pair<std::size_t, std::string>, std::string> beats_;  // as they were last seen
};

}  // namespace

std::unique_ptr<Check> make_service_living_check(SeededWorld& world) {
  return std::make_unique<ServiceLiving>(world);
}

}  // namespace tend::sim
