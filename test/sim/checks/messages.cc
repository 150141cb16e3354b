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

  void on_settled() override {
    if (loses_files(world.scenario)) return;
    for (const auto& [name, agent] : world.truth().agents) look_at_inbox(name, agent);
    for (const auto& [name, agent] : world.truth().agents) look_at_notices(name);
  }

 private:
  void look_at_inbox(const std::string& name, const AgentTruth& agent) {
    if (agent.children.empty() || world.folder_of(name).empty()) return;
    std::map<std::string, int> told;
    std::set<std::string> texts;
    std::istringstream lines(
        world.universe.disk.read(world.folder_of(name) + "/" + std::string(kInboxFile))
            .value_or(""));
    for (std::string line; std::getline(lines, line);) {
      const auto json = nlohmann::json::parse(line, nullptr, false);
      if (!json.is_object()) continue;
      const std::string kind = json.value("kind", "");
      const std::string from = json.value("from", "");
      if (kind == "child-done" || kind == "child-gone") ++told[from];
      const int life = json.value("life", 0);
      if (!texts.insert(fmt::format("{} {} {} {}", kind, from, life, json.value("text", "")))
               .second) {
        violated(fmt::format("{} was told twice: {}", name, line));
      }
    }
    if (world.is_over(name)) return;  // nobody is left to be told
    for (const std::string& child : agent.children) {
      const auto says = world.heartbeat_of(child);
      if (!says || !is_terminal(says->status) || says->life == 0) continue;
      if (told[child] == 0) violated(fmt::format("{} was not told of the end of {}", name, child));
    }
  }
  void look_at_notices(const std::string& name) {
    const auto says = world.heartbeat_of(name);
    if (!says || says->verdict != Verdict::looping) return;
    const bool told = std::ranges::any_of(world.notices(), [&](const std::string& notice) {
      return notice.contains("\"" + name + "\"");
    });
    if (!told) violated(fmt::format("{} is held, and no person was told", name));
  }
};

}  // namespace

std::unique_ptr<Check> make_messages_check(SeededWorld& world) {
  return std::make_unique<Messages>(world);
}

}  // namespace tend::sim
