// A signal of ours reaches nobody but whom it is meant for: an agent's keeper ends that agent's
// processes, and another keeper or the patrol only if that one does not run. The patrol ends
// keepers that do not run, and nobody else.
#include <fmt/format.h>

#include "checks/check.h"

namespace tend::sim {
namespace {

class Identity final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "wrong identity"; }

  void on_signal(const SimSent& sent, const Owner& sender, const Owner& to) override {
    const bool is_ours = sender.is == Owner::Is::keeper || sender.is == Owner::Is::command ||
                         sender.is == Owner::Is::patrol;
    if (!is_ours) return;
    if (to.is == Owner::Is::stranger) {
      return violated(fmt::format("the keeper of {} sent signal {} to a stranger, pid {}",
                                  sender.agent, static_cast<int>(sent.kill), sent.to.pid));
    }
    const bool of_an_agent = to.is == Owner::Is::agent || to.is == Owner::Is::helper;
    if (of_an_agent && sender.is == Owner::Is::keeper && to.agent != sender.agent) {
      return violated(
          fmt::format("the keeper of {} signalled a process of {}", sender.agent, to.agent));
    }
    if (of_an_agent && sender.is == Owner::Is::patrol) {
      return violated(fmt::format("the patrol signalled a process of {}", to.agent));
    }
    if (to.is == Owner::Is::patrol && ends(sent.kill) && world.patrolled_since() && !is_slow()) {
      violated("the patrol was ended while it ran");
    }
    if (to.is == Owner::Is::keeper && ends(sent.kill) && !world.keeper_is_paused(sent.to.pid) &&
        !is_slow()) {
      violated(fmt::format("the keeper of {} was ended while it ran", to.agent));
    }
  }

 private:
  /// It may have hung in a write, or not been able to show that it does not.
  [[nodiscard]] bool is_slow() const {
    return world.since_wrong(Wrong::slow) < kShowsAgain ||
           world.since_wrong(Wrong::full) < kShowsAgain;
  }

  static constexpr Duration kShowsAgain = std::chrono::minutes{5};
};

}  // namespace

std::unique_ptr<Check> make_identity_check(SeededWorld& world) {
  return std::make_unique<Identity>(world);
}

}  // namespace tend::sim
