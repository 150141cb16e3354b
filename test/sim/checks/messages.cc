// A lead hears of the end of each of its children, once; a person hears of whoever is held.
#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "checks/check.h"
#include "store/inbox.h"

namespace tend::sim {
namespace {

class Messages final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "messages"; }

  void on_tick() override {
    for (const auto& [name, agent] : world.truth().agents) {
      if (!world.is_over(name)) {
        over_.erase(name);
      } else {
        over_.try_emplace(name, world.elapsed());
      }
    }
  }
  void on_settled() override {
    for (const auto& [name, agent] : world.truth().agents) {
      look_at_inbox(name, agent);
      look_at_notices(name);
    }
  }

 private:
  void look_at_inbox(const std::string& name, const AgentTruth& agent) {
    if (agent.children.empty() || world.folder_of(name).empty()) return;
    std::set<std::string> told;
    std::set<std::string> said;
    std::istringstream lines(
        world.universe.disk.read(world.folder_of(name) + "/" + std::string(kInboxFile))
            .value_or(""));
    for (std::string line; std::getline(lines, line);) {
      const auto json = nlohmann::json::parse(line, nullptr, false);
      if (!json.is_object()) continue;
      const std::string kind = json.value("kind", "");
      const std::string from = json.value("from", "");
      const bool is_end = kind == "child-done" || kind == "child-gone";
      if (is_end) told.insert(from);
      // An end is told once, in whatever words.
      const std::string text = is_end ? "" : json.value("text", "");
      if (!said.insert(fmt::format("{} {} {} {}", kind, from, json.value("life", 0), text))
               .second) {
        violated(fmt::format("{} was told twice: {}", name, line));
      }
    }
    for (const std::string& child : agent.children) {
      const auto says = world.heartbeat_of(child);
      if (!says || !is_terminal(says->status) || says->life == 0) continue;
      if (told.contains(child) || !could_hear(name, child)) continue;
      violated(fmt::format("{} was not told of the end of {}", name, child));
    }
  }
  /// It was there for long enough after the end of that one.
  [[nodiscard]] bool could_hear(const std::string& lead, const std::string& child) const {
    if (!over_.contains(child)) return false;
    return !over_.contains(lead) || over_.at(lead) > over_.at(child) + kHearsWithin;
  }
  void look_at_notices(const std::string& name) {
    const auto says = world.heartbeat_of(name);
    if (!says || says->verdict != Verdict::looping) return;
    const bool told = std::ranges::any_of(world.notices(), [&](const std::string& notice) {
      return notice.contains("\"" + name + "\"");
    });
    if (!told) violated(fmt::format("{} is held, and no person was told", name));
  }

  static constexpr Duration kHearsWithin = std::chrono::minutes{2};
  std::map<std::string, Duration> over_;  // since when, as far as anybody saw
};

}  // namespace

std::unique_ptr<Check> make_messages_check(SeededWorld& world) {
  return std::make_unique<Messages>(world);
}

}  // namespace tend::sim
