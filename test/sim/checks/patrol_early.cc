// Nobody is warned of, asked or told about before a beat of it is missed: time in which the machine
// slept and steps of the calendar are no silence.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/duration.h"
#include "checks/check.h"
#include "judge/patrol.h"
#include "run/patrol_process.h"
#include "store/tasks.h"

namespace tend::sim {
namespace {

class PatrolEarly final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "early"; }

  void on_begin() override { database_ = home_database_of(world); }
  void on_event(const Event& event) override {
    if (event.agent != "patrol" || boot_ != world.universe.boot_id()) return;
    const bool is_rung =
        event.action == "warn" || event.action == "ping" || event.action == "escalate";
    constexpr std::string_view kTask = "task ";
    const std::size_t id_ends = event.text.find(" of ");  // open ones are nobody's
    if (!is_rung || !event.text.starts_with(kTask) || id_ends == std::string::npos) return;
    const auto sign = signs_.find(event.text.substr(kTask.size(), id_ends - kTask.size()));
    if (sign == signs_.end() || !sign->second.not_before || event.text.contains(": open for "))
      return;
    const Duration silent = world.awake() - *sign->second.not_before;
    if (silent >= sign->second.interval || is_between_steps(*sign->second.not_before)) return;
    violated(fmt::format("{} after {} of silence: {}", event.action, format_duration(silent),
                         event.text));
  }
  /// Events of the time before were heard already.
  void on_tick() override {
    if (!database_) return;
    // How long they were silent before this boot, only its calendar says.
    const bool other_boot =
        std::exchange(boot_, world.universe.boot_id()) != world.universe.boot_id();
    if (other_boot) {
      signs_.clear();
      steps_.clear();
    }
    note_step(other_boot);
    std::map<std::string, Sign> now;
    const auto read = database_->each(
        "SELECT id, fence, coalesce(last_heartbeat, updated_at), context FROM tasks "
        "WHERE status = 'in_progress'",
        {}, [&](const DatabaseRow& row) {
          const auto context = from_word<PatrolContext>(kTaskContextWords, row.text(3));
          Sign sign{
              .fence = row.number(1),
              .at = row.number(2),
              .not_before = not_before_,
              .interval = PatrolPolicy{}.of(context.value_or(PatrolContext::active)).interval};
          const auto before = signs_.find(std::string(row.text(0)));
          const bool same = before != signs_.end() && before->second.fence == sign.fence &&
                            before->second.at == sign.at;
          if (same) sign.not_before = before->second.not_before;
          if (other_boot) sign.not_before.reset();
          now.emplace(row.text(0), sign);
        });
    if (!read) violated(read.error().text);
    signs_ = std::move(now);
    not_before_ = world.awake();
  }

 private:
  void note_step(bool other_boot) {
    const Duration ahead =
        std::chrono::duration_cast<Duration>(world.wall().time_since_epoch()) - world.elapsed();
    const Duration step = ahead - std::exchange(ahead_, ahead);
    if (!other_boot && (step >= kStep || step <= -kStep)) steps_.push_back(world.awake());
  }
  /// Of two steps between two sweeps a patrol sees the sum, and not which sign came before which.
  [[nodiscard]] bool is_between_steps(Duration sign) const {
    const Duration sweep = with_interval({}, world.scenario.patrol).sweeps.longest;
    const auto before = std::ranges::any_of(steps_, [&](Duration step) {
      return step <= sign + SeededWorld::kTick && step >= sign - sweep;
    });
    return before && std::ranges::any_of(steps_, [&](Duration step) { return step >= sign; });
  }

  static constexpr Duration kStep = std::chrono::seconds{1};

  struct Sign {
    std::int64_t fence = 0;
    std::int64_t at = 0;
    std::optional<Duration> not_before;  // awake time: it came later than that
    Duration interval{};
  };

  std::unique_ptr<Database> database_;
  std::map<std::string, Sign> signs_;  // by task, at the last tick
  std::string boot_;
  Duration ahead_{};             // the calendar, of the world's time
  std::vector<Duration> steps_;  // of it, in awake time of this boot
  Duration not_before_{};        // the last tick
};

}  // namespace

std::unique_ptr<Check> make_patrol_early_check(SeededWorld& world) {
  return std::make_unique<PatrolEarly>(world);
}

}  // namespace tend::sim
