// There is one patrol at a time, and while a keeper lives there is one: whoever killed it or
// stopped it, it is replaced in time.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/duration.h"
#include "checks/check.h"
#include "run/patrol_lookout.h"
#include "store/patrol_file.h"

namespace tend::sim {
namespace {

// A hang is seen by the first look that finds the last beat and those until it is long enough ago;
// the next one ends it, and the next but one starts another.
constexpr Duration kBound = kPatrolHangs + 4 * PatrolLookout::kLooksEvery;

class PatrolWatched final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "one patrol"; }

  void on_patrol(std::size_t at_work) override {
    asked_for_ = true;
    if (at_work > 1) violated(fmt::format("{} patrols are at work", at_work));
    missing_since_ = world.awake();  // one that is stopped at once was there, too
  }
  void on_tick() override {
    const Duration now = world.awake();
    if (std::exchange(boot_, world.universe.boot_id()) != world.universe.boot_id())
      keepers_.clear();
    // A command that takes long puts off the ticks: nobody saw what happened meanwhile.
    const bool seen = now - std::exchange(ticked_, now) <= 2 * SeededWorld::kTick;
    const bool calm = seen && asked_for_ && !world.is_disturbed();
    if (!calm) keepers_.clear();
    note_keepers(now);
    if (!calm || world.patrolled_since() || keepers_.empty()) {
      missing_since_ = now;
      told_ = false;
      return;
    }
    Duration watched_since = now;  // by the one who has been there longest
    for (const auto& [pid, since] : keepers_) watched_since = std::min(watched_since, since);
    const Duration missing = now - std::max(missing_since_, watched_since);
    if (missing <= kBound || told_) return;
    told_ = true;
    violated(fmt::format("none runs for {}, and {} keepers do", format_duration(missing),
                         keepers_.size()));
  }

 private:
  /// Those that run, and since when.
  void note_keepers(Duration now) {
    std::map<std::int64_t, Duration> there;
    for (const auto& [name, agent] : world.truth().agents) {
      for (const std::int64_t pid : world.processes_of(name, Owner::Is::keeper)) {
        if (world.keeper_is_paused(pid)) continue;
        const auto before = keepers_.find(pid);
        there.emplace(pid, before == keepers_.end() ? now : before->second);
      }
    }
    keepers_ = std::move(there);
  }

  std::map<std::int64_t, Duration> keepers_;  // awake time
  Duration missing_since_{};
  Duration ticked_{};
  std::string boot_;
  bool asked_for_ = false;
  bool told_ = false;
};

}  // namespace

std::unique_ptr<Check> make_patrol_watched_check(SeededWorld& world) {
  return std::make_unique<PatrolWatched>(world);
}

}  // namespace tend::sim
