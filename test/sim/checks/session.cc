// Who is brought back goes on in its own session, once it had one that could be heard of.
#include <algorithm>

#include <fmt/format.h>

#include "checks/check.h"
#include "store/agent_file.h"
#include "store/conversation.h"
#include "store/journal.h"

namespace tend::sim {
namespace {

class Sessions final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "session"; }

  void on_life(const AgentTruth& agent) override {
    if (!speaks(agent.plan->voice) || agent.lives.size() < 2) return;
    const LifeTruth& before = agent.lives[agent.lives.size() - 2];
    if (!before.doing) return;  // it had not said yet which is its own
    const auto is_heard = [](const LifeTruth& life) { return life.doing && !life.unheard; };
    const auto heard = std::find_if(agent.lives.rbegin() + 1, agent.lives.rend(), is_heard);
    if (heard == agent.lives.rend()) return;
    const auto went = [&](std::string_view file) {
      return world.has_lost(agent.plan->name, file, heard->since);
    };
    if (went(kStreamFile) || went(kJournalFile) || went(kConversationFile)) return;
    const auto facts = world.universe.facts(agent.lives.back().process.pid);
    const std::string session = "session-of-" + agent.plan->name;
    if (!facts || std::ranges::find(facts->command, session) != facts->command.end()) return;
    violated(fmt::format("{} life {} has forgotten its session", agent.plan->name,
                         agent.lives.back().number));
  }
};

}  // namespace

std::unique_ptr<Check> make_session_check(SeededWorld& world) {
  return std::make_unique<Sessions>(world);
}

}  // namespace tend::sim
