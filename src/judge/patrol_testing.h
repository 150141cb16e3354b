// For tests of the patrol: a home, and what its sweeps say of it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judge/patrol.h"

namespace tend {

/// A home whose tasks beat when they are told to, and a patrol that is fit at minute 0.
class Home {
 public:
  Home() {
    state_.unfit = PatrolUnfit::fit;
    state_.last_sweep = Instant{};
    state_.asked = std::chrono::minutes{5};
  }

  /// A task that PinkHill, or who is named, claimed at minute 0.
  TaskFacts& add(std::string id, WorkerIs worker = WorkerIs::no_trace,
                 std::string name = "PinkHill") {
    TaskFacts facts;
    facts.id = std::move(id);
    facts.fence = 1;
    facts.worker.name = std::move(name);
    facts.worker.is = worker;
    tasks_.push_back(std::move(facts));
    return tasks_.back();
  }
  TaskFacts& task(std::size_t i = 0) { return tasks_.at(i); }
  PatrolMemory& memory(const std::string& id) { return state_.tasks[id]; }
  PatrolState& state() { return state_; }
  PatrolPolicy& policy() { return policy_; }

  void beat(Duration at, std::size_t i = 0) { task(i).last_sign = WallTime{at}; }
  void pong(Duration at) { pong_at_ = at; }

  const PatrolPlan& sweep(Duration at, PatrolWatch watch = {}) {
    watch.now = Instant{at};
    for (TaskFacts& facts : tasks_) {
      facts.age =
          at + calendar_ - std::chrono::duration_cast<Duration>(facts.last_sign.time_since_epoch());
      if (pong_at_) facts.pong_age = at - *pong_at_;
    }
    plan_ = plan_patrol(tasks_, policy_, state_, watch);
    return plan_;
  }
  /// Sweeps at `at`, with what the first task gets.
  std::vector<PatrolRung> rungs_at(Duration at) { return sweep(at).tasks.front().rungs; }
  const PatrolDecision& at(Duration time) { return sweep(time).tasks.front(); }
  /// Every minute until then, with what the first task gets.
  std::vector<std::pair<Duration, PatrolRung>> watched_until(Duration end,
                                                             Duration from = std::chrono::minutes{
                                                                 1}) {
    std::vector<std::pair<Duration, PatrolRung>> all;
    for (Duration time = from; time <= end; time += std::chrono::minutes{1}) {
      for (const PatrolRung rung : rungs_at(time)) all.emplace_back(time, rung);
    }
    return all;
  }
  void step_calendar(Duration by) { calendar_ += by; }

 private:
  PatrolPolicy policy_;
  PatrolState state_;
  std::vector<TaskFacts> tasks_;
  std::optional<Duration> pong_at_;
  Duration calendar_{};
  PatrolPlan plan_;
};

}  // namespace tend
