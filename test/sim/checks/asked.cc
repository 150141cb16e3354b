// Who is at work in a call is not asked whether it still answers, nor is one that was asked and has
// its time to answer.
#include <algorithm>

#include <fmt/format.h>

#include "checks/check.h"
#include "store/agent_file.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

class Asked final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "asked in time"; }

  void on_question(const AgentTruth& agent, const QuestionTruth& question) override {
    const LifeTruth& life = *agent.life();
    if (life.unheard || world.is_disturbed()) return;
    const Duration silent = question.asked - life.progressed;
    const bool can_hear = !world.is_unreadable(agent.plan->name, kStreamFile);
    if (life.in_call && can_hear && silent >= kSeen) {
      violated(fmt::format("{} is asked in a call, which it began {:.0f} s ago", agent.plan->name,
                           std::chrono::duration<double>(silent).count()));
    }
    const bool is_open = std::ranges::any_of(life.questions, [&](const QuestionTruth& before) {
      return before.by == question.by && before.asked > life.progressed &&
             question.asked - before.asked < agent.plan->probe.deadline;
    });
    // The files of a time that comes again are new, and what is new overtakes a question.
    const Duration now = world.elapsed();
    if (world.was_a_time_again(now - agent.plan->probe.deadline, now)) return;
    if (is_open) violated(fmt::format("{} is asked twice at a time", agent.plan->name));
  }

 private:
  static constexpr Duration kSeen = 40s;  // a keeper looks every 30 s, whatever it was told
};

}  // namespace

std::unique_ptr<Check> make_asked_check(SeededWorld& world) {
  return std::make_unique<Asked>(world);
}

}  // namespace tend::sim
