// Nobody is warned of, asked or told about before a beat of it is missed: time in which the machine
// slept and steps of the calendar are no silence. A sweep goes by what it was shown of the tasks as
// it began; who beats while it speaks is heard by the next.
#include <algorithm>
#include <deque>
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
    const std::string id = event.text.substr(kTask.size(), id_ends - kTask.size());
    const std::optional<Sign> sign = shown(id, event.at);
    if (!sign || !sign->not_before || event.text.contains(": open for ")) return;
    const Duration silent = world.awake() - *sign->not_before;
    if (silent >= sign->interval || is_between_steps(*sign->not_before)) return;
    violated(fmt::format("{} after {} of silence: {}", event.action, format_duration(silent),
                         event.text));
  }
  void on_listed(const std::vector<Task>& held) override {
    if (!database_) return;
    note_boot();
    Sweep sweep{.at = calendar_seconds(world.wall()), .signs = {}};
    for (const Task& task : held) sweep.signs.emplace(task.id, sign_of(task));
    sweeps_.push_back(std::move(sweep));
    if (sweeps_.size() > kMostSweeps) sweeps_.pop_front();
  }
  /// Events of the time before were heard already.
  void on_tick() override {
    if (!database_) return;
    note_boot();
    note_step();
    TaskFilter filter;
    filter.status = kInProgress;
    const auto held = Tasks(*database_, TaskLimits{}).list(filter, world.wall());
    if (!held) return violated(held.error().text);
    std::map<std::string, Sign> now;
    for (const Task& task : *held) now.emplace(task.id, sign_of(task));
    signs_ = std::move(now);
    not_before_ = world.awake();
  }

 private:
  struct Sign {
    std::int64_t fence = 0;
    WallTime at{};
    std::optional<Duration> not_before;  // awake time: it came later than that
    Duration interval{};
  };
  struct Sweep {
    double at = 0;  // by the calendar
    std::map<std::string, Sign> signs;
  };

  /// How long they were silent before this boot, only its calendar says.
  void note_boot() {
    if (boot_ == world.universe.boot_id()) return;
    boot_ = world.universe.boot_id();
    signs_.clear();
    sweeps_.clear();
    steps_.clear();
    not_before_.reset();
  }
  /// What is known of it since the last tick, or that it came after it.
  [[nodiscard]] Sign sign_of(const Task& task) const {
    Sign sign{.fence = task.fence,
              .at = task.last_sign(),
              .not_before = not_before_,
              .interval = PatrolPolicy{}.of(static_cast<PatrolContext>(task.context)).interval};
    const auto before = signs_.find(task.id);
    const bool same = before != signs_.end() && before->second.fence == sign.fence &&
                      before->second.at == sign.at;
    if (same) sign.not_before = before->second.not_before;
    return sign;
  }
  /// The sign that the sweep which speaks then went by. One that has stood still since it looked
  /// has to know that: it goes by what there is now.
  [[nodiscard]] std::optional<Sign> shown(const std::string& task, double at) const {
    constexpr double kSameMoment = 0.001;  // what is written is rounded
    const auto sweep =
        std::ranges::find_if(sweeps_.rbegin(), sweeps_.rend(),
                             [&](const Sweep& one) { return one.at <= at + kSameMoment; });
    const bool speaks_still = sweep != sweeps_.rend() && at - sweep->at <= kSpeaks;
    const auto& signs = speaks_still ? sweep->signs : signs_;
    const auto sign = signs.find(task);
    return sign == signs.end() ? std::nullopt : std::optional(sign->second);
  }
  void note_step() {
    const Duration ahead =
        std::chrono::duration_cast<Duration>(world.wall().time_since_epoch()) - world.elapsed();
    const Duration step = ahead - std::exchange(ahead_, ahead);
    if (not_before_ && (step >= kStep || step <= -kStep)) steps_.push_back(world.awake());
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
  static constexpr double kSpeaks = 10;  // seconds, on a slow disk too
  static constexpr std::size_t kMostSweeps = 4;

  std::unique_ptr<Database> database_;
  std::map<std::string, Sign> signs_;  // by task, at the last tick
  std::deque<Sweep> sweeps_;           // of this boot, the newest last
  std::string boot_;
  Duration ahead_{};                    // the calendar, of the world's time
  std::vector<Duration> steps_;         // of it, in awake time of this boot
  std::optional<Duration> not_before_;  // the last tick of this boot
};

}  // namespace

std::unique_ptr<Check> make_patrol_early_check(SeededWorld& world) {
  return std::make_unique<PatrolEarly>(world);
}

}  // namespace tend::sim
