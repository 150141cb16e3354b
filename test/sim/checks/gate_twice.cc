// A message is handed to one life once. Only if its keeper ended before it could write down that
// the message had arrived, the next one hands it over again; and whatever is handed over again says
// so.
#include <map>
#include <optional>

#include <fmt/format.h>

#include "checks/check.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

class GateTwice final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "message handed over twice"; }

  void on_message(const AgentTruth& agent, std::int64_t id, std::int64_t by,
                  std::string_view words) override {
    const Handing now{.by = by, .process = agent.life()->process, .at = world.elapsed()};
    const auto [before, is_first] = handed_.try_emplace(id, now);
    if (is_first) return;
    if (!words.contains("handed over before")) {
      violated(fmt::format("{} is not told that it had message {} before", agent.plan->name, id));
    }
    look_at(id, agent.plan->name, before->second, now);
    before->second = now;
  }
  void on_taken_back(const std::string& table, const std::string& id,
                     const std::string& /*was*/) override {
    if (table == "messages") handed_.erase(std::stoll(id));
  }
  void on_end(const SimFacts& process, const Owner& owner) override {
    if (owner.is != Owner::Is::keeper) return;
    for (auto& [id, handing] : handed_) {
      if (handing.by == process.id.pid && !handing.ended) handing.ended = world.elapsed();
    }
  }

 private:
  struct Handing {
    std::int64_t by = 0;  // the pid of a keeper
    ProcessId process;    // of the life: a disk may lose its number
    Duration at{};
    std::optional<Duration> ended{};  // that keeper
  };
  static constexpr Duration kMarkingMayTake = 1s;

  void look_at(std::int64_t id, const std::string& agent, const Handing& before,
               const Handing& now) {
    if (before.process != now.process) return;
    if (!before.ended) {
      return violated(fmt::format("a keeper hands message {} to {} twice", id, agent));
    }
    const Duration since = now.at - before.at;
    const bool could_mark =
        world.since_wrong(Wrong::slow) > since && world.since_wrong(Wrong::blind) > since;
    if (!could_mark || *before.ended < before.at + kMarkingMayTake) return;
    violated(fmt::format("{} has message {}, and is handed it again", agent, id));
  }

  std::map<std::int64_t, Handing> handed_;  // the last, by message
};

}  // namespace

std::unique_ptr<Check> make_gate_twice_check(SeededWorld& world) {
  return std::make_unique<GateTwice>(world);
}

}  // namespace tend::sim
