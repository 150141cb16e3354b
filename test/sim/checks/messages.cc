// A lead hears of the end of each of its children, once; a person hears of whoever is held.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "checks/check.h"
#include "store/children.h"
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
      look_at_hold(name);
    }
  }
  void on_settled() override {
    for (const auto& [name, agent] : world.truth().agents) {
      look_at_inbox(name, agent);
      if (is_held(name) && !is_told_of_hold(name)) {
        violated(fmt::format("{} is held, and no person was told", name));
      }
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
      const bool is_new =
          said.insert(fmt::format("{} {} {} {}", kind, from, json.value("life", 0), text)).second;
      // An end that went with the power comes once more.
      if (!is_new && !(is_end && world.has_lost(from, kHeartbeatFile) &&
                       world.has_lost(name, kChildrenFile))) {
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
  [[nodiscard]] bool is_held(const std::string& name) const {
    const auto says = world.heartbeat_of(name);
    return says && says->verdict == Verdict::looping;
  }
  void look_at_hold(const std::string& name) {
    const bool is_kept = std::ranges::any_of(
        world.processes_of(name, Owner::Is::keeper),
        [this](std::int64_t keeper) { return !world.keeper_is_paused(keeper); });
    if (!is_held(name) || !is_kept || world.is_disturbed() || is_told_of_hold(name)) {
      untold_.erase(name);
      return;
    }
    Duration& since = untold_.try_emplace(name, world.elapsed()).first->second;
    if (world.elapsed() - std::max(since, world.last_fault()) < kTellingMayTake) return;
    since = kNoLimit;  // said once
    violated(fmt::format("{} is held, and no person was told", name));
  }
  /// What is told of one life holds for the next, until it is said to be over.
  [[nodiscard]] bool is_told_of_hold(const std::string& name) const {
    bool is_told = false;
    for (const std::string& notice : world.notices()) {
      const auto json = nlohmann::json::parse(notice, nullptr, false);
      if (!json.is_object() || json.value("agent", "") != name) continue;
      const bool is_close = json.value("what_to_do", "") == kIsOver;
      is_told = !is_close && (is_told || is_about_hold(name, json));
    }
    return is_told;
  }
  /// That its keeper cannot judge it takes the place of what had not gone out yet.
  [[nodiscard]] bool is_about_hold(const std::string& name, const nlohmann::json& notice) const {
    const std::string verdict = notice.value("verdict", "");
    if (verdict == word(Verdict::looping)) return true;
    return verdict == word(Verdict::unknown) &&
           notice.value("life", 0U) == world.heartbeat_of(name)->life;
  }

  static constexpr Duration kHearsWithin = std::chrono::minutes{2};
  static constexpr Duration kTellingMayTake = std::chrono::minutes{2};
  static constexpr const char* kIsOver = "nothing: that is over";
  std::map<std::string, Duration> over_;    // since when, as far as anybody saw
  std::map<std::string, Duration> untold_;  // who is held: since when nobody was told of it
};

}  // namespace

std::unique_ptr<Check> make_messages_check(SeededWorld& world) {
  return std::make_unique<Messages>(world);
}

}  // namespace tend::sim
