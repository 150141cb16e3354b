// The patrol takes a claim from nobody who is there: not from an agent that runs, and never from a
// worker of which it knows nothing but the name.
#include <memory>
#include <set>
#include <string>

#include <fmt/format.h>

#include "checks/check.h"

namespace tend::sim {
namespace {

// Only who takes a claim back gives it a new fence while it sets it free.
constexpr const char* kWatchTaken = R"(
CREATE TEMP TABLE taken(number INTEGER PRIMARY KEY, task, holder);
CREATE TEMP TRIGGER tasks_taken AFTER UPDATE ON main.tasks
  WHEN old.status = 'in_progress' AND new.status = 'open' AND new.fence > old.fence BEGIN
  INSERT INTO taken(task, holder) VALUES(new.id, old.assignee);
END;)";

class PatrolRobs final : public Check {
 public:
  using Check::Check;
  [[nodiscard]] std::string_view name() const override { return "robbed"; }

  void on_begin() override {
    database_ = home_database_of(world);
    if (!database_) return;
    if (auto watched = database_->run_script(kWatchTaken); !watched) violated(watched.error().text);
  }
  void on_tick() override {
    if (!database_) return;
    std::int64_t rows = 0;
    auto read = database_->each("SELECT task, holder FROM taken ORDER BY number", {},
                                [&](const DatabaseRow& row) {
                                  ++rows;
                                  look_at(std::string(row.text(0)), std::string(row.text(1)));
                                });
    if (read && rows > 0) read = database_->run_script("DELETE FROM taken");
    if (!read) violated(read.error().text);
    note_living();
  }
  void on_settled() override { on_tick(); }

 private:
  void look_at(const std::string& task, const std::string& holder) {
    const auto agent = world.truth().agents.find(holder);
    if (agent == world.truth().agents.end()) {
      return violated(
          fmt::format("{} was taken from {}, and nobody knew whether it lives", task, holder));
    }
    // The same process before and after.
    const LifeTruth* const life = agent->second.life();
    if (life != nullptr && living_.contains({holder, life->number})) {
      violated(fmt::format("{} was taken from {}, which lives", task, holder));
    }
  }
  void note_living() {
    living_.clear();
    for (const auto& [name, agent] : world.truth().agents) {
      if (const LifeTruth* const life = agent.life()) living_.emplace(name, life->number);
    }
  }

  std::unique_ptr<Database> database_;
  std::set<std::pair<std::string, std::uint32_t>> living_;  // at the last tick
};

}  // namespace

std::unique_ptr<Check> make_patrol_robs_check(SeededWorld& world) {
  return std::make_unique<PatrolRobs>(world);
}

}  // namespace tend::sim
