// What was received is not lost, whatever becomes of the machine: in the end a message is done, and
// then its agent was done with it before; or it waits for an agent that cannot take it; or it was
// given up, and people were told. However often it was sent, it is one message.
#include <set>

#include <fmt/format.h>

#include "checks/check.h"
#include "store/gate.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

class GateKept final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "messages kept"; }

  void on_event(const Event& event) override {
    constexpr std::string_view kMessage = "message ";
    if (!event.text.starts_with(kMessage) || !event.text.contains("is given up")) return;
    given_up_.insert(std::stoll(event.text.substr(kMessage.size())));
  }
  void on_taken_back(const std::string& table, const std::string& id,
                     const std::string& /*was*/) override {
    if (table == "messages") given_up_.erase(std::stoll(id));
  }
  void on_settled() override {
    const auto database = home_database_of(world);
    if (!database) return violated("there is no database");
    Gate gate(*database);
    const auto& plans = world.scenario.messages;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const MessageTruth& truth = world.truth().messages[i];
      if (truth.ids.size() > 1) violated(fmt::format("message {} was received as two", i));
      if (truth.ids.empty()) continue;
      const auto found = gate.find(*truth.ids.begin());
      if (!found || !*found) {
        violated(fmt::format("message {} is lost", i));
      } else {
        look_at(i, **found);
      }
    }
    look_for_doubles(*database);
  }

 private:
  static constexpr Duration kHandingMayTake = 1h;
  static constexpr Duration kLongestWork = 31s;  // of a taker

  void look_at(std::size_t i, const Message& message) {
    const MessagePlan& plan = world.scenario.messages[i];
    const auto sender = std::ranges::find(world.scenario.senders, plan.from, &SenderPlan::name);
    const AgentTruth& agent = world.truth().agents.at(sender->agent);
    if (message.agent != sender->agent || message.endpoint != sender->name ||
        message.content != fmt::format("this is {} of {}", i, sender->name)) {
      violated(fmt::format("message {} is another one now", i));
    }
    switch (message.state) {
      case MessageState::done:
        return look_at_done(i, message);
      case MessageState::dead:
        return look_at_dead(i, message, agent);
      case MessageState::held:  // see gate_held.cc
        return;
      case MessageState::queued:
      case MessageState::taken:
        break;
    }
    if (!agent.plan->probe.deliver) return look_at_left(i, message, agent);
    const LifeTruth* const life = agent.life();
    const bool could_take = life != nullptr && life->idle_since &&
                            world.elapsed() - *life->idle_since >= kHandingMayTake;
    if (could_take && is_well_for(world, agent, kHandingMayTake)) {
      violated(fmt::format("message {} ({}) waits, and {} rests", i, message.id, message.agent));
    }
  }
  void look_at_done(std::size_t i, const Message& message) {
    const auto got = world.truth().got.find(message.id);
    if (got == world.truth().got.end()) {
      violated(fmt::format("message {} is done, and {} was not done with it", i, message.agent));
    } else if (message.updated_at < got->second && !steps_) {
      violated(fmt::format("message {} was done before {} was done with it", i, message.agent));
    }
  }
  /// Whoever comes for messages takes one that was left by another, after those before it.
  void look_at_left(std::size_t i, const Message& message, const AgentTruth& agent) {
    if (message.state != MessageState::taken || world.is_over(message.agent)) return;
    const Duration round = agent.plan->probe.takes + 2 * SeededWorld::kTick + kLongestWork;
    const Duration may_take = static_cast<int>(world.scenario.messages.size() + 2) * round;
    const Duration calm = world.elapsed() - world.last_fault();
    if (calm < may_take || message.lease_until + may_take > world.wall()) return;
    violated(
        fmt::format("message {} ({}) was left by who took it, and nobody gets it", i, message.id));
  }
  void look_at_dead(std::size_t i, const Message& message, const AgentTruth& agent) {
    if (message.tries - message.forgiven < GateLimits{}.most_tries) {
      violated(fmt::format("message {} was given up after {} tries", i, message.tries));
    }
    const bool is_told = given_up_.contains(message.id) || !agent.plan->probe.deliver ||
                         world.scenario.patrol > Duration::zero();
    if (!is_told) violated(fmt::format("message {} was given up, and nobody was told", i));
  }
  void look_for_doubles(Database& database) {
    const auto read = database.each(
        "SELECT key, count(*) FROM messages GROUP BY agent, channel, key HAVING count(*) > 1", {},
        [this](const DatabaseRow& row) {
          violated(fmt::format("{} is there {} times", row.text(0), row.number(1)));
        });
    if (!read) violated(read.error().text);
  }

  std::set<std::int64_t> given_up_;
  // Then the calendar does not say what came first.
  const bool steps_ = sets_calendar(world.scenario);
};

}  // namespace

std::unique_ptr<Check> make_gate_kept_check(SeededWorld& world) {
  return std::make_unique<GateKept>(world);
}

}  // namespace tend::sim
