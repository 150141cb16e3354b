// What a sender is told of an outage: its end only if it was told of its begin, only once its agent
// has answered, as one word that may be said again under the same key; and in the end it is told,
// unless the way to it never works.
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "act/gate_words.h"
#include "checks/check.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

class GateTold final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "outage told once"; }

  void on_end(const SimFacts& /*process*/, const Owner& owner) override {
    if (owner.is == Owner::Is::agent) went_[owner.agent] = world.unslept();
  }
  void on_tick() override {
    for (const auto& [name, agent] : world.truth().agents) {
      if (!agent.answered || !world.processes_of(name, Owner::Is::keeper).empty()) continue;
      unread_[name] = world.unslept();
    }
  }
  /// Its number may be that of the next one.
  void on_taken_back(const std::string& table, const std::string& id,
                     const std::string& /*was*/) override {
    const auto told = table == "incidents" ? told_.find(std::stoll(id)) : told_.end();
    if (told == told_.end()) return;
    told->second.is_lost = true;
    told->second.ends.clear();
  }
  void on_reply(const ReplyTruth& reply, const std::string& agent) override {
    Told& told = told_[reply.incident];
    if (told.agent.empty() || (told.is_lost && told.sender != reply.sender)) {
      told = {
          .agent = agent, .sender = reply.sender, .first = world.unslept(), .went = went_[agent]};
    }
    if (told.sender != reply.sender) {
      violated(fmt::format("{} is told what is for {}", reply.sender, told.sender));
    }
    if (reply.heard) look_for_echo(reply);
    if (reply.gate == kAllClear) return look_at_end(reply, told);
    if (reply.gate != kAutoReply && reply.gate != kUndelivered)
      violated("an unknown word: " + reply.gate);
    ++told.begins;
    if (reply.heard) told.knows = true;
  }
  void on_settled() override {
    for (const auto& [incident, told] : told_) {
      if (!told.knows || told.knows_end || told.is_lost || is_excused(incident, told)) continue;
      const AgentTruth& agent = world.truth().agents.at(told.agent);
      if (!is_well_for(world, agent, kTellingMayTake)) continue;
      violated(fmt::format("{} was told that {} is down, and never that it is well again",
                           told.sender, told.agent));
    }
  }

 private:
  struct Told {
    std::string agent;
    std::string sender;
    Duration first{};  // times are of the world, less its sleep
    Duration went{};   // its agent, before that
    std::uint64_t begins = 0;
    bool knows = false;
    bool knows_end = false;
    bool is_lost = false;          // by the disk, or a part of what was said
    std::set<std::string> ends{};  // their keys
  };
  static constexpr Duration kTellingMayTake = 2h;  // what failed is tried again after an hour
  static constexpr Duration kCalmAfter = 2min;     // a fault
  /// What is received while an outage ends may begin another one, which ends at once.
  static constexpr Duration kRace = 5min;

  void look_at_end(const ReplyTruth& reply, Told& told) {
    if (told.begins == 0 || (!told.knows && !is_in_doubt(reply.incident))) {
      violated(fmt::format("{} is told of the end of what it was not told of", reply.sender));
    }
    told.ends.insert(reply.key);
    if (told.ends.size() > 1) {
      violated(fmt::format("{} is told of one end by two words", reply.sender));
    }
    if (reply.heard) told.knows_end = true;
    const AgentTruth& agent = world.truth().agents.at(told.agent);
    const Duration read = std::max(agent.answered.value_or(0ms), unread_[told.agent]);
    if (!agent.answered || *agent.answered < told.went || read + kRace < told.first) {
      violated(fmt::format("{} is told that {} is well, which has not answered since", reply.sender,
                           told.agent));
    }
  }
  /// That it was heard is known to all, unless something went wrong as that was written down.
  void look_for_echo(const ReplyTruth& reply) {
    const auto [first, is_first] = heard_.try_emplace(reply.key, world.elapsed());
    if (is_first || first->second < world.last_fault() + kCalmAfter) return;
    violated(fmt::format("{} was told {} twice", reply.sender, reply.key));
  }
  /// Whether it was told of the begin may not be known to who tells it.
  [[nodiscard]] bool is_in_doubt(std::int64_t incident) const {
    const auto database = home_database_of(world);
    bool is_in_doubt = false;
    std::ignore = database->each(
        "SELECT 1 FROM notices WHERE incident = ? AND kind <> 'close' AND in_doubt LIMIT 1",
        {incident}, [&](const DatabaseRow&) { is_in_doubt = true; });
    return is_in_doubt;
  }
  [[nodiscard]] bool is_excused(std::int64_t incident, const Told& told) const {
    const auto sender = std::ranges::find(world.scenario.senders, told.sender, &SenderPlan::name);
    if (sender->reply == ReplyManner::never) return true;
    if (sender->reply == ReplyManner::works) return false;
    const auto database = home_database_of(world);
    bool is_dead = false;
    std::ignore =
        database->each("SELECT 1 FROM notices WHERE incident = ? AND state = 'dead' LIMIT 1",
                       {incident}, [&](const DatabaseRow&) { is_dead = true; });
    return is_dead;
  }

  std::map<std::int64_t, Told> told_;       // by incident
  std::map<std::string, Duration> went_;    // the last time, by agent
  std::map<std::string, Duration> unread_;  // until then nobody was there to hear its answer
  std::map<std::string, Duration> heard_;   // first, by the key; times are of the world
};

}  // namespace

std::unique_ptr<Check> make_gate_told_check(SeededWorld& world) {
  return std::make_unique<GateTold>(world);
}

}  // namespace tend::sim
