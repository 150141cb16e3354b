// Every hang is found within its bound; a fault in between gives it that time again.
#include <fmt/format.h>

#include "checks/check.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

class StallFound final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "stall found"; }

  void on_tick() override { look(); }
  void on_settled() override { look(); }

 private:
  static constexpr Duration kAfterFault = 20min;  // until somebody has put a keeper on again

  static bool is_in_call(StepKind kind) {
    return kind == StepKind::hang_tool || kind == StepKind::hang_child;
  }
  [[nodiscard]] bool has_child_at_work(const AgentTruth& agent) const {
    return std::ranges::any_of(agent.children, [this](const std::string& child) {
      const AgentTruth& below = world.truth().agents.at(child);
      return below.asked_for && !world.is_over(child);
    });
  }
  void look() {
    const Duration now = world.elapsed();
    for (HangTruth& hang : world.truth().hangs) {
      if (hang.known > Duration::zero() || hang.over > Duration::zero() || hang.missed) continue;
      if (hang.bound == kNoLimit) continue;
      const AgentTruth& agent = world.truth().agents.at(hang.agent);
      if (agent.stop_ordered || agent.life() == nullptr || agent.life()->unheard) continue;
      if (world.is_to_pause(hang.agent)) hang.excused = now;
      const bool kept = !world.processes_of(hang.agent, Owner::Is::keeper).empty();
      if (!kept) hang.excused = now;
      // A child at work is why a call of its parent is silent.
      if (is_in_call(hang.kind) && has_child_at_work(agent)) hang.excused = now;
      Duration due = std::max(hang.since, hang.excused) + hang.bound;
      const Duration fault = world.last_fault();
      if (fault > Duration::zero() && fault + hang.bound + kAfterFault > due &&
          fault > hang.since) {
        due = fault + hang.bound + kAfterFault;
      }
      // When a calendar that was set back comes to a time again, the files of that time are new.
      if (world.was_a_time_again(hang.since, now)) due += hang.bound;
      if (now < due + SeededWorld::kTick) continue;
      hang.missed = true;
      violated(fmt::format("{} life {} hangs ({}) since {:.0f} s, and nobody knows", hang.agent,
                           hang.life, kStepWords[static_cast<std::size_t>(hang.kind)],
                           std::chrono::duration<double>(now - hang.since).count()));
    }
  }
};

}  // namespace

std::unique_ptr<Check> make_stall_found_check(SeededWorld& world) {
  return std::make_unique<StallFound>(world);
}

}  // namespace tend::sim
