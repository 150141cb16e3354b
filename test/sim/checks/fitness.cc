// Nothing is ended by a keeper that has just slept, or did not run: it cannot know what it missed.
// Nor for long after its journal could not be written, whoever comes after it: what was printed
// then is lost.
#include <fmt/format.h>

#include "checks/check.h"

namespace tend::sim {
namespace {

class Fitness final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "unfit observer"; }

  void on_signal(const SimSent& sent, const Owner& sender, const Owner& to) override {
    if (!is_decided_end(sent, sender, to)) return;
    const AgentTruth& agent = world.truth().agents.at(to.agent);
    if (agent.stop_ordered || world.is_shutting_down()) return;
    const LifeTruth* const life = agent.life();
    if (life == nullptr || life->leaving) return;
    for (const Unfit& unfit : world.unfit()) {
      const bool is_about_it = unfit.agent.empty() || unfit.agent == to.agent;
      const Duration now = world.elapsed();
      if (is_about_it && unfit.from <= now && now < unfit.to) {
        return violated(fmt::format("{} was ended {:.0f} s after its keeper {}", to.agent,
                                    std::chrono::duration<double>(now - unfit.from).count(),
                                    unfit.unwritten ? "could not write" : "had not run"));
      }
    }
  }
};

}  // namespace

std::unique_ptr<Check> make_fitness_check(SeededWorld& world) {
  return std::make_unique<Fitness>(world);
}

}  // namespace tend::sim
