// What people were told of a silent task is taken back once its worker is heard of again, or the
// task is closed, also by a patrol that does not remember having told it.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/duration.h"
#include "checks/check.h"
#include "judge/patrol.h"
#include "run/patrol_process.h"
#include "store/tasks.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

class PatrolCloses final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "taken back"; }

  void on_begin() override { database_ = home_database_of(world); }
  void on_tick() override {
    if (!database_ || world.elapsed() - looked_ < kLooksEvery) return;
    looked_ = world.elapsed();
    std::map<std::string, Open> now;
    const auto read = database_->each(
        "SELECT DISTINCT tasks.id, status, fence, coalesce(last_heartbeat, tasks.updated_at) "
        "FROM notices JOIN tasks ON notices.key = 'task:' || tasks.id "
        "WHERE notices.closed = 0 AND notices.kind <> 'close'",
        {}, [&](const DatabaseRow& row) {
          const std::string id(row.text(0));
          const auto before = open_.find(id);
          Open open = before != open_.end() ? before->second : Open{.sign = row.number(3)};
          look_at(id, row.text(1) == kClosed, row.number(3), open);
          now.emplace(id, open);
        });
    if (!read) return violated(read.error().text);
    open_ = std::move(now);
  }

 private:
  static constexpr Duration kLooksEvery = 1min;

  /// A task that people were told of.
  struct Open {
    std::int64_t sign = 0;
    std::optional<Duration> heard{};  // of its worker, since people were told
    std::optional<Duration> well{};   // since then, without a break
    bool told = false;                // by this check
  };

  void look_at(const std::string& id, bool is_closed, std::int64_t sign, Open& open) {
    const Duration now = world.elapsed();
    if (std::exchange(open.sign, sign) != sign) open.heard = now;
    const bool is_well = is_closed || (open.heard && now - *open.heard < kHeardLately);
    if (!is_well) open.well.reset();
    if (is_well && !open.well) open.well = now;
    const auto patrolled = world.patrolled_since();
    if (!is_well || open.told || !patrolled || world.is_disturbed()) return;
    const Duration watched = now - std::max({*open.well, *patrolled, world.last_fault()});
    if (watched <= slack()) return;
    open.told = true;
    violated(fmt::format("people were told of {}, which is well for {}, and nobody took that back",
                         id, format_duration(watched)));
  }

  /// Three sweeps that find it fit and the next, each of which may wait for version control.
  [[nodiscard]] Duration slack() const {
    const auto agents = static_cast<int>(world.scenario.agents.size());
    return 2 * policy_.sweeps.longest + 3 * policy_.sweeps.usual + 2 * kLooksEvery +
           2 * agents * world.universe.version_control_takes;
  }

  /// Less than any context's interval, by which a patrol could know better.
  static constexpr Duration kHeardLately = 5min;
  const PatrolPolicy policy_ = with_interval({}, world.scenario.patrol);
  std::unique_ptr<Database> database_;
  std::map<std::string, Open> open_;  // by task
  Duration looked_{};
};

}  // namespace

std::unique_ptr<Check> make_patrol_closes_check(SeededWorld& world) {
  return std::make_unique<PatrolCloses>(world);
}

}  // namespace tend::sim
