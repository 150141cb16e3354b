// What is done to an agent was written down before: its journal says so when the signal is sent.
#include <fmt/format.h>

#include "checks/check.h"
#include "store/journal.h"

namespace tend::sim {
namespace {

class JournalFirst final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "journal first"; }

  void on_signal(const SimSent& sent, const Owner& sender, const Owner& to) override {
    if (!is_decided_end(sent, sender, to)) return;
    const AgentTruth& agent = world.truth().agents.at(to.agent);
    const LifeTruth* const life = agent.life();
    if (life == nullptr || agent.stop_ordered || world.is_shutting_down() || life->leaving) return;
    const auto journal = world.universe.disk.read(agent.folder + "/" + std::string(kJournalFile));
    if (!journal || !journal->contains(R"("action":"kill")")) {
      violated(fmt::format("{} life {} is ended, and its journal does not know why", to.agent,
                           life->number));
    }
  }
};

}  // namespace

std::unique_ptr<Check> make_journal_first_check(SeededWorld& world) {
  return std::make_unique<JournalFirst>(world);
}

}  // namespace tend::sim
