// A task is held by its agent and by nobody else, every claim has a fence of its own, it is closed
// once and only when the work is done, it is beaten in time for one that gets on and not for one
// that is silent beyond its limit, and nobody who is over still holds one. Everything that is ever
// written of a task is looked at.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <fmt/format.h>

#include "base/duration.h"
#include "checks/check.h"
#include "judge/patrol.h"
#include "run/child_look.h"
#include "store/tasks.h"

namespace tend::sim {
namespace {

// A beat of the keeper's own leaves the message as it is.
constexpr const char* kWatch = R"(
CREATE TEMP TABLE seen(number INTEGER PRIMARY KEY, task, held_before, held, fence_before, fence,
                       status_before, status, beaten);
CREATE TEMP TRIGGER tasks_seen AFTER UPDATE ON main.tasks BEGIN
  INSERT INTO seen(task, held_before, held, fence_before, fence, status_before, status, beaten)
  VALUES(new.id, CASE old.status WHEN 'in_progress' THEN old.assignee END,
         CASE new.status WHEN 'in_progress' THEN new.assignee END, old.fence, new.fence, old.status,
         new.status, new.last_heartbeat IS NOT old.last_heartbeat AND
                     new.heartbeat_message IS old.heartbeat_message);
END;)";

bool is_silent(Verdict verdict) {
  return verdict == Verdict::suspect || verdict == Verdict::stalled;
}

class TasksCheck final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "tasks"; }

  void on_begin() override {
    database_ = home_database_of(world);
    if (!database_) return;
    if (auto watched = database_->run_script(kWatch); !watched) violated(watched.error().text);
  }
  void on_tick() override {
    if (!database_) return;
    auto read = database_->each(
        "SELECT task, held_before, held, fence_before, fence, status_before, status, beaten "
        "FROM seen ORDER BY number",
        {}, [this](const DatabaseRow& row) { look_at(row); });
    if (read) read = database_->run_script("DELETE FROM seen");
    if (!read) violated(read.error().text);
    note_silent();
    for (const auto& [name, agent] : world.truth().agents) {
      if (agent.plan->task) look_at_beats(agent);
    }
  }
  /// A person was told what is left to do.
  void on_event(const Event& event) override {
    const bool is_left = event.text.starts_with("its task ") && event.text.contains("does it");
    if (is_left) left_.insert(event.agent);
  }
  /// What was done before is heard of before; it may have to be done again.
  void on_taken_back(const std::string& table, const std::string& id,
                     const std::string& /*was*/) override {
    if (table != "tasks") return;
    on_tick();
    closed_.erase(id);
  }
  void on_settled() override {
    if (!database_) return;
    on_tick();
    for (const auto& [name, agent] : world.truth().agents) {
      if (agent.plan->task) look_at_end(name);
    }
  }

 private:
  /// Who may hold it.
  [[nodiscard]] static std::string holder_of(const std::string& task) {
    const std::size_t name = task.size() - std::min(task.size(), own_task("").size());
    return task.ends_with(own_task("")) ? task.substr(0, name) : task;
  }

  void look_at(const DatabaseRow& row) {
    const std::string task(row.text(0));
    const auto before = row.text_or_none(1);
    const auto held = row.text_or_none(2);
    if (row.number(4) < row.number(3)) violated(fmt::format("the fence of {} fell", task));
    if (before && held && before != held) {
      violated(fmt::format("{} went from {} to {} without being given back", task, *before, *held));
    }
    if (held && held != holder_of(task)) violated(fmt::format("{} is held by {}", task, *held));
    if (!before && held && row.number(4) <= row.number(3)) {
      violated(fmt::format("{} was claimed by {} with an old fence", task, *held));
    }
    const bool beaten = row.number(7) != 0 && held && before;
    if (beaten && world.since_wrong(Wrong::full) > kSaidAgain && seems_silent(task) &&
        silent_.contains(task) && silent_.at(task) == since_of(task)) {
      violated(fmt::format("{} was beaten while its agent was silent beyond its limit", task));
    }
    if (row.text(5) != kClosed && row.text(6) == kClosed) look_at_close(task);
  }
  void look_at_close(const std::string& task) {
    if (++closed_[task] > 1) violated(fmt::format("{} was closed twice", task));
    const AgentTruth& agent = world.truth().agents.at(task);
    if (was_allowed_nothing(agent)) {
      violated(fmt::format("{} was closed, and its agent was not allowed to do anything", task));
    }
    // Of one that only exits nobody can tell whether it had done everything.
    if (!agent.done && !agent.did_nothing && speaks(agent.plan->voice)) {
      violated(fmt::format("{} was closed, and its agent had not done its work", task));
    }
  }
  void look_at_end(const std::string& name) {
    const auto says = world.heartbeat_of(name);
    if (!says || !is_terminal(says->status) || says->task.empty()) return;
    // Nobody who is over looks after it again.
    if (world.was_taken_back("tasks", name) || left_.contains(name)) return;
    const auto task = Tasks(*database_, TaskLimits{}).find(name);
    if (!task || !*task) return violated(fmt::format("{} is gone", name));
    const bool goes_on = says->ended_by == kShutdownWords;
    if ((*task)->status == kInProgress && !goes_on) {
      violated(fmt::format("{} is over, and still holds its task", name));
    }
    // Whose last life was only refused is in doubt, whatever the lives before it did.
    const AgentTruth& agent = world.truth().agents.at(name);
    if (!agent.lives.empty() && agent.lives.back().was_denied && !says->note.empty()) return;
    if ((*task)->status != kClosed && says->outcome == WorkOutcome::done) {
      violated(fmt::format("{} has done its work, and its task is {}", name, (*task)->status));
    }
  }

  /// It ended well for all that can be seen, and its task is open.
  [[nodiscard]] static bool was_allowed_nothing(const AgentTruth& agent) {
    return agent.did_nothing && !agent.lives.empty() && agent.lives.back().was_denied;
  }
  /// A power cut may put back what stood in a heartbeat before.
  [[nodiscard]] bool seems_silent(const std::string& name) const {
    const auto says = world.heartbeat_of(name);
    return says && says->process.boot_id == world.universe.boot_id() &&
           !is_terminal(says->status) && is_silent(says->verdict);
  }
  /// It gets on, or what it waits for has a name, and its keeper can say so.
  [[nodiscard]] bool seems_at_work(const std::string& name) const {
    const auto says = world.heartbeat_of(name);
    const bool is_well = says && says->status == Status::running && says->task == name &&
                         !says->stays && !says->leaving &&
                         (says->verdict == Verdict::working || says->verdict == Verdict::waiting);
    const auto keepers = world.processes_of(name, Owner::Is::keeper);
    return is_well && keepers.size() == 1 && !world.keeper_is_paused(keepers.front()) &&
           !world.is_disturbed() && !world.is_shutting_down();
  }
  void look_at_beats(const AgentTruth& agent) {
    const std::string& name = agent.plan->name;
    if (!seems_at_work(name)) {
      at_work_.erase(name);
      return;
    }
    Duration& since = at_work_.try_emplace(name, world.elapsed()).first->second;
    const PatrolPace& pace = policy_.of(static_cast<PatrolContext>(agent.plan->context));
    const Duration missed = pace.interval + pace.tolerance + kOneLook;
    if (world.elapsed() - std::max(since, world.last_fault()) < missed) return;
    const auto task = Tasks(*database_, TaskLimits{}).find(name);
    if (!task || !*task || (*task)->status != kInProgress || (*task)->assignee != name) return;
    const auto silent = world.wall() - (*task)->last_sign();
    if (silent <= missed) return;
    since = kNoLimit;  // said once
    violated(fmt::format("{} works, and its task was not beaten for {}", name,
                         format_duration(std::chrono::duration_cast<Duration>(silent))));
  }
  [[nodiscard]] double since_of(const std::string& name) const {
    return world.heartbeat_of(name).value_or(Heartbeat{}).since;
  }
  void note_silent() {
    silent_.clear();
    for (const auto& [name, agent] : world.truth().agents) {
      const bool can_say = world.since_wrong(Wrong::full) > kSaidAgain;
      if (agent.plan->task && can_say && seems_silent(name)) silent_[name] = since_of(name);
    }
  }

  static constexpr Duration kSaidAgain = std::chrono::minutes{1};  // once a disk has room again
  static constexpr Duration kOneLook = SeededWorld::kTick;

  const PatrolPolicy policy_;
  std::unique_ptr<Database> database_;
  std::map<std::string, int> closed_;
  std::set<std::string> left_;               // agents
  std::map<std::string, double> silent_;     // at the last tick, and since when
  std::map<std::string, Duration> at_work_;  // since when it is, as everybody can see
};

}  // namespace

std::unique_ptr<Check> make_tasks_check(SeededWorld& world) {
  return std::make_unique<TasksCheck>(world);
}

}  // namespace tend::sim
