// While nothing goes wrong and a patrol is at work, no task is forgotten: of one whose holder is
// silent it was warned, who can answer was asked, people were told, and the task of one that is
// gone was set free. Each by its time and the slack below.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/duration.h"
#include "checks/check.h"
#include "judge/patrol.h"
#include "run/child_look.h"
#include "run/patrol_process.h"
#include "store/outbox.h"
#include "store/tasks.h"

namespace tend::sim {
namespace {

using namespace std::chrono_literals;

class PatrolLadderCheck final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "forgotten"; }

  void on_begin() override { database_ = home_database_of(world); }
  void on_event(const Event& event) override {
    constexpr std::string_view kTask = "task ";
    const std::size_t id_ends = event.text.find(" of ");
    if (event.agent != "patrol" || event.action != "warn" || id_ends == std::string::npos) return;
    warned_.insert(event.text.substr(kTask.size(), id_ends - kTask.size()));
  }
  void on_tick() override {
    if (!database_ || world.elapsed() - looked_ < kLooksEvery) return;
    // A command that takes long puts off the ticks: nobody saw what happened meanwhile.
    const bool seen = world.elapsed() - std::exchange(looked_, world.elapsed()) < 2 * kLooksEvery;
    if (is_open("silence") || !seen) incident_ = world.elapsed();
    std::map<std::string, Episode> now;
    const auto read = database_->each(
        "SELECT id, fence, coalesce(last_heartbeat, updated_at), context, assignee FROM tasks "
        "WHERE status = 'in_progress'",
        {}, [&](const DatabaseRow& row) {
          const std::string id(row.text(0));
          Episode episode{.fence = row.number(1),
                          .sign = row.number(2),
                          .since = world.elapsed(),
                          .context = from_word<PatrolContext>(kTaskContextWords, row.text(3))
                                         .value_or(PatrolContext::active),
                          .holder = std::string(row.text(4)),
                          .told = false};
          const auto before = episodes_.find(id);
          if (before != episodes_.end() && before->second.fence == episode.fence &&
              before->second.sign == episode.sign) {
            episode.since = before->second.since;
            episode.over = before->second.over;
            episode.told = before->second.told;
          } else {
            warned_.erase(id);
          }
          now.emplace(id, std::move(episode));
        });
    if (!read) return violated(read.error().text);
    episodes_ = std::move(now);
    for (auto& [id, episode] : episodes_) look_at(id, episode);
  }

 private:
  static constexpr Duration kLooksEvery = 1min;

  struct Episode {
    std::int64_t fence = 0;
    std::int64_t sign = 0;
    Duration since{};  // of the world: it was heard of no later
    PatrolContext context = PatrolContext::active;
    std::string holder;
    bool told = false;               // by this check
    std::optional<Duration> over{};  // the holder, as far as can be seen
  };

  // A patrol that something went wrong with looks again after `longest` at most, is fit three
  // `usual` sweeps later, and finds what is due then with its next one; a little for what calls
  // take.
  [[nodiscard]] Duration slack() const {
    return 2 * policy_.sweeps.longest + 3 * policy_.sweeps.usual + 2 * kLooksEvery;
  }
  /// How long it was like that, and looked at.
  [[nodiscard]] Duration watched(Duration since) const {
    const auto patrolled = world.patrolled_since();
    if (!patrolled || world.is_disturbed()) return Duration::zero();
    return world.elapsed() - std::max({since, *patrolled, world.last_fault()});
  }
  [[nodiscard]] Duration watched_alone(Duration since) const {
    return watched(std::max(since, incident_));
  }

  void look_at(const std::string& id, Episode& episode) {
    if (episode.told) return;
    const PatrolPace& pace = policy_.of(episode.context);
    const auto agent = world.truth().agents.find(episode.holder);
    const bool is_agent = agent != world.truth().agents.end();
    const auto says = is_agent ? world.heartbeat_of(episode.holder) : std::nullopt;
    if (is_agent && !says) return;  // who knows what it is?
    const bool over = says && (is_terminal(says->status) || says->outcome != WorkOutcome::none);
    if (!over) episode.over.reset();
    if (over && !episode.over) episode.over = world.elapsed();

    const Duration late = watched(episode.since) - slack();
    const bool since_calm = episode.since >= world.last_fault() && world.patrolled_since() &&
                            episode.since >= *world.patrolled_since();
    if (since_calm && late > pace.interval + pace.tolerance && !warned_.contains(id)) {
      return forgotten(id, episode, "nobody was warned");
    }
    const Duration late_alone = watched_alone(episode.since) - slack();
    if (over) return look_at_left(id, episode, *says, late_alone);
    if (late_alone > 2 * pace.interval && !was_asked(id, episode)) {
      return forgotten(id, episode, "its holder was not asked");
    }
    // Who was asked has an interval, and is found by the next sweep.
    const bool may_answer = is_agent || answers(episode.holder);
    if (!may_answer && late_alone > 4 * pace.interval + policy_.sweeps.longest &&
        !is_open("task:" + id)) {
      forgotten(id, episode, "nobody was told");
    }
  }
  /// Held by one that is over.
  void look_at_left(const std::string& id, Episode& episode, const Heartbeat& says, Duration late) {
    const PatrolPace& pace = policy_.of(episode.context);
    const Duration known = watched_alone(std::max(episode.since, *episode.over)) - slack();
    if (std::min(late, known) <= 3 * pace.interval) return;
    Heartbeat ended = says;
    if (!is_terminal(ended.status)) {
      ended.status = says.outcome == WorkOutcome::done ? Status::completed : Status::withdrawn;
    }
    const ChildEnd end = child_end_of(ended);
    if (end == ChildEnd::done || end == ChildEnd::withdrawn) {
      if (!is_open("task:" + id)) forgotten(id, episode, "its holder is over, nobody was told");
      return;
    }
    forgotten(id, episode, "its holder is gone, and it was not set free");
  }
  void forgotten(const std::string& id, Episode& episode, const std::string& what) {
    episode.told = true;
    violated(fmt::format("{} of {} is silent, watched for {}: {}", id, episode.holder,
                         format_duration(watched(episode.since)), what));
  }

  [[nodiscard]] bool answers(const std::string& name) const {
    return std::ranges::any_of(world.scenario.outsiders, [&](const OutsiderPlan& outsider) {
      return outsider.name == name && outsider.answers;
    });
  }
  [[nodiscard]] bool is_open(const std::string& key) {
    return finds("SELECT 1 FROM notices WHERE key = ? AND closed = 0 AND kind <> 'close' LIMIT 1",
                 key);
  }
  [[nodiscard]] bool was_asked(const std::string& id, const Episode& episode) {
    return finds("SELECT 1 FROM letters WHERE key = ? LIMIT 1",
                 fmt::format("ping:{}:{}:{}", id, episode.fence, episode.sign));
  }
  [[nodiscard]] bool finds(std::string_view sql, const std::string& key) {
    bool found = false;
    const auto read =
        database_->each(sql, {std::string_view(key)}, [&](const DatabaseRow&) { found = true; });
    if (!read) violated(read.error().text);
    return found;
  }

  const PatrolPolicy policy_ = with_interval({}, world.scenario.patrol);
  std::unique_ptr<Database> database_;
  std::map<std::string, Episode> episodes_;  // by task
  std::set<std::string> warned_;             // tasks, in their episode
  Duration incident_{};                      // when many were last silent
  Duration looked_{};
};

}  // namespace

std::unique_ptr<Check> make_patrol_ladder_check(SeededWorld& world) {
  return std::make_unique<PatrolLadderCheck>(world);
}

}  // namespace tend::sim
