// What is done to an agent was written down before: its journal says so, of this life of it, when
// the signal is sent.
#include <string>
#include <string_view>

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
    if (journal && knows_of(*journal, *life)) return;
    violated(fmt::format("{} life {} is ended, and its journal does not know why", to.agent,
                         life->number));
  }

 private:
  /// An order to end this very life, or to bring it back, which ends what is left of it first.
  static bool knows_of(std::string_view journal, const LifeTruth& life) {
    const std::string its_life = fmt::format(R"("life":{},)", life.number);
    constexpr std::string_view kAction = R"("action":")";
    for (std::size_t at = journal.find(kAction); at != std::string_view::npos;
         at = journal.find(kAction, at + 1)) {
      const std::string_view line = journal.substr(at, journal.find('\n', at) - at);
      const std::string_view what = line.substr(kAction.size());
      const bool ends = what.starts_with("kill\"") || what.starts_with("resume\"") ||
                        what.starts_with("restart\"");
      if (ends && line.contains(its_life)) return true;
    }
    return false;
  }
};

}  // namespace

std::unique_ptr<Check> make_journal_first_check(SeededWorld& world) {
  return std::make_unique<JournalFirst>(world);
}

}  // namespace tend::sim
