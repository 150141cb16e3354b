// What the patrol must never do, and what must make no difference to it, on random homes whose
// workers beat, answer, fall silent and die as they like.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "judge/patrol.h"

namespace tend {
namespace {

using namespace std::chrono_literals;

/// What one task and its worker do in one minute.
enum class Doing : std::uint8_t { nothing, beat, answer, new_holder };

struct Life {
  TaskIs status = TaskIs::in_progress;
  PatrolContext context = PatrolContext::active;
  std::uint8_t worker = 0;  // tasks may share one
  std::vector<std::pair<Doing, WorkerIs>> minutes;
  Verdict verdict = Verdict::working;
  ChildEnd end = ChildEnd::failed;
};

/// A home, minute by minute. Every task is in it from the beginning.
struct World {
  std::vector<Life> lives;
  std::vector<bool> sweeps;  // in which minutes
  std::vector<bool> sleeps;  // in which minutes the machine is found to have slept for an hour
  PatrolPolicy policy;
};

rc::Gen<Life> a_life(int minutes) {
  const auto doing = rc::gen::weightedElement<Doing>(
      {{30, Doing::nothing}, {2, Doing::beat}, {1, Doing::answer}, {1, Doing::new_holder}});
  const auto worker =
      rc::gen::element(WorkerIs::kept, WorkerIs::unkept, WorkerIs::over, WorkerIs::alive,
                       WorkerIs::gone, WorkerIs::no_trace, WorkerIs::unseen);
  return rc::gen::build<Life>(
      rc::gen::set(&Life::status, rc::gen::weightedElement<TaskIs>({{12, TaskIs::in_progress},
                                                                    {1, TaskIs::open},
                                                                    {1, TaskIs::blocked},
                                                                    {1, TaskIs::other}})),
      rc::gen::set(&Life::context, rc::gen::element(PatrolContext::active, PatrolContext::overnight,
                                                    PatrolContext::critical)),
      rc::gen::set(&Life::worker, rc::gen::inRange<std::uint8_t>(0, 4)),
      rc::gen::set(&Life::minutes,
                   rc::gen::container<std::vector<std::pair<Doing, WorkerIs>>>(
                       static_cast<std::size_t>(minutes), rc::gen::pair(doing, worker))),
      rc::gen::set(&Life::verdict, rc::gen::element(Verdict::working, Verdict::stalled)),
      rc::gen::set(&Life::end, rc::gen::element(ChildEnd::none, ChildEnd::done, ChildEnd::failed,
                                                ChildEnd::stopped, ChildEnd::orphaned)));
}

rc::Gen<PatrolPolicy> a_policy() {
  return rc::gen::map(
      rc::gen::container<std::vector<std::uint32_t>>(4, rc::gen::inRange<std::uint32_t>(0, 5)),
      [](const std::vector<std::uint32_t>& missed) {
        PatrolPolicy policy;
        for (PatrolPace& pace : policy.paces) std::ranges::copy(missed, pace.ladder.missed.begin());
        return policy;
      });
}

constexpr int kMinutes = 120;

rc::Gen<std::vector<bool>> some_minutes(std::size_t of_ten) {
  return rc::gen::container<std::vector<bool>>(
      kMinutes, rc::gen::weightedElement<bool>({{of_ten, true}, {10 - of_ten, false}}));
}

rc::Gen<World> a_world() {
  return rc::gen::mapcat(rc::gen::inRange(1, 6), [](int tasks) {
    return rc::gen::build<World>(
        rc::gen::set(&World::lives, rc::gen::container<std::vector<Life>>(
                                        static_cast<std::size_t>(tasks), a_life(kMinutes))),
        rc::gen::set(&World::sweeps, some_minutes(5)), rc::gen::set(&World::policy, a_policy()),
        rc::gen::set(&World::sleeps, rc::gen::map(rc::gen::inRange(0, 3 * kMinutes), [](int when) {
          std::vector<bool> sleeps(kMinutes, false);
          if (when < kMinutes) sleeps[static_cast<std::size_t>(when)] = true;
          return sleeps;
        })));
  });
}

/// Plays a world, and shows every sweep.
class Player {
 public:
  explicit Player(const World& world) : world_(world) {
    for (std::size_t i = 0; i < world.lives.size(); ++i) {
      TaskFacts facts;
      facts.id = std::to_string(i);
      facts.status = world.lives[i].status;
      facts.context = world.lives[i].context;
      facts.fence = 1;
      facts.worker.name = "W" + std::to_string(world.lives[i].worker);
      tasks_.push_back(facts);
      signs_.push_back(0min);
      answers_.emplace_back();
    }
  }

  /// Calls seen(facts, plan, minute) after every sweep, `always` or in the minutes of the world.
  template <class Seen>
  void play(bool always, Seen seen) {
    for (std::size_t minute = 0; minute < kMinutes; ++minute) {
      time_ += 1min;
      const bool slept = world_.sleeps[minute];
      if (slept) time_ += 1h;
      for (std::size_t i = 0; i < tasks_.size(); ++i) live(i, minute);
      if (!always && !slept && !world_.sweeps[minute]) continue;
      seen(tasks_, sweep(slept), minute);
    }
  }

  [[nodiscard]] const PatrolState& state() const { return state_; }

 private:
  void live(std::size_t i, std::size_t minute) {
    const Life& life = world_.lives[i];
    const auto [doing, worker] = life.minutes[minute];
    TaskFacts& facts = tasks_[i];
    facts.worker.is = worker;
    facts.worker.verdict = life.verdict;
    facts.worker.end = life.end;
    if (doing == Doing::beat) signs_[i] = time_;
    if (doing == Doing::answer) answers_[i] = time_;
    if (doing == Doing::new_holder) ++facts.fence;
  }

  PatrolPlan sweep(bool slept) {
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      tasks_[i].last_sign = WallTime{signs_[i]};
      tasks_[i].age = time_ - signs_[i];
      tasks_[i].pong_age.reset();
      if (answers_[i]) tasks_[i].pong_age = time_ - *answers_[i];
    }
    return plan_patrol(tasks_, world_.policy, state_,
                       {.now = Instant{time_}, .slept = slept, .unwatched = slept ? 1h : 0h});
  }

  const World& world_;
  std::vector<TaskFacts> tasks_;
  std::vector<Duration> signs_;
  std::vector<std::optional<Duration>> answers_;
  PatrolState state_;
  Duration time_{};
};

bool has(const PatrolDecision& decision, PatrolRung rung) {
  return std::ranges::find(decision.rungs, rung) != decision.rungs.end();
}

RC_GTEST_PROP(Patrol, takes_a_claim_only_from_one_that_is_gone_and_only_if_it_is_fit, ()) {
  const World world = *a_world();
  Player(world).play(false, [&](const auto& tasks, const PatrolPlan& plan, std::size_t) {
    const bool incident = plan.incident.is == PatrolIncident::Is::begins ||
                          plan.incident.is == PatrolIncident::Is::goes_on;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const PatrolDecision& decision = plan.tasks[i];
      const WorkerIs worker = tasks[i].worker.is;
      if (tasks[i].status != TaskIs::in_progress) {
        RC_ASSERT(std::ranges::all_of(decision.rungs, [&](PatrolRung rung) {
          return tasks[i].status == TaskIs::open && rung == PatrolRung::warn;
        }));
      }
      if (plan.unfit != PatrolUnfit::fit || decision.held == HeldBack::incident) {
        RC_ASSERT(std::ranges::all_of(decision.rungs,
                                      [](PatrolRung rung) { return rung == PatrolRung::warn; }));
      }
      if (incident && decision.missed > 0 && worker != WorkerIs::over) {
        RC_ASSERT(decision.held == HeldBack::incident || plan.unfit != PatrolUnfit::fit);
      }
      if (!has(decision, PatrolRung::reassign)) continue;
      RC_ASSERT(worker == WorkerIs::over || worker == WorkerIs::gone);
      RC_ASSERT(plan.unfit == PatrolUnfit::fit);
      RC_ASSERT(!(worker == WorkerIs::over && tasks[i].worker.end == ChildEnd::done));
    }
  });
}

RC_GTEST_PROP(Patrol, takes_no_rung_twice_in_an_episode, ()) {
  const World world = *a_world();
  struct Episode {
    std::int64_t fence = 0;
    WallTime sign{};
    std::optional<Duration> pinged;  // the age of the last answer at most, if it is one to this
    std::set<PatrolRung> taken;
  };
  std::map<std::size_t, Episode> episodes;
  Player(world).play(false, [&](const auto& tasks, const PatrolPlan& plan, std::size_t) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      Episode& episode = episodes[i];
      const TaskFacts& facts = tasks[i];
      const bool answered =
          episode.pinged && facts.pong_age && facts.age - *facts.pong_age > *episode.pinged;
      if (facts.fence != episode.fence || facts.last_sign != episode.sign || answered) {
        episode = {facts.fence, facts.last_sign, std::nullopt, {}};
      }
      for (const PatrolRung rung : plan.tasks[i].rungs) {
        RC_ASSERT(episode.taken.insert(rung).second);
        if (rung == PatrolRung::ping) episode.pinged = facts.age;
      }
    }
  });
}

RC_GTEST_PROP(Patrol, never_stands_higher_on_the_ladder_for_a_fresher_sign, ()) {
  World world = *a_world();
  for (Life& life : world.lives) {
    for (auto& [doing, worker] : life.minutes) doing = Doing::nothing;
  }
  // Of others more may be said, as without this one they are no incident. And who is told of before
  // he is asked is told of later if the question comes in between.
  world.policy.incident_size = 1000;
  const PatrolLadder& ladder = world.policy.paces[0].ladder;
  RC_PRE(ladder.of(PatrolRung::ping) <= ladder.of(PatrolRung::escalate));
  World fresher = world;
  const auto who = *rc::gen::inRange<std::size_t>(0, world.lives.size());
  const auto when = *rc::gen::inRange<std::size_t>(0, kMinutes);
  fresher.lives[who].minutes[when].first = Doing::beat;

  std::map<std::size_t, PatrolState> states;
  Player plain(world);
  plain.play(true, [&](const auto&, const PatrolPlan&, std::size_t minute) {
    states[minute] = plain.state();
  });
  Player other(fresher);
  other.play(true, [&](const auto&, const PatrolPlan&, std::size_t minute) {
    for (const auto& [id, memory] : other.state().tasks) {
      const PatrolMemory& before = states[minute].tasks.at(id);
      if (id != std::to_string(who)) RC_ASSERT(memory.taken == before.taken);
      for (std::size_t rung = 0; rung < kPatrolRungs; ++rung) {
        RC_ASSERT(!memory.taken.at(rung) || before.taken.at(rung));
      }
    }
  });
}

RC_GTEST_PROP(Patrol, takes_the_same_rungs_however_often_it_looks, ()) {
  World world = *a_world();
  for (Life& life : world.lives) {
    const WorkerIs worker = life.minutes.front().second;
    for (auto& minute : life.minutes) minute = {Doing::nothing, worker};
    life.context = PatrolContext::critical;  // every rung is due before the world ends
  }
  world.sleeps.assign(kMinutes, false);
  for (std::size_t minute = 0; minute < kMinutes; ++minute) {
    if (minute % 8 == 0) world.sweeps[minute] = true;  // else it would be late
  }
  using Taken = std::map<std::string, std::multiset<PatrolRung>>;
  const auto taken = [&](bool always) {
    Taken all;
    Player(world).play(always, [&](const auto&, const PatrolPlan& plan, std::size_t) {
      for (const PatrolDecision& decision : plan.tasks) {
        all[decision.task].insert(decision.rungs.begin(), decision.rungs.end());
      }
    });
    return all;
  };
  RC_ASSERT(taken(false) == taken(true));
}

RC_GTEST_PROP(Patrol, comes_back_in_time_for_what_is_due, ()) {
  const World world = *a_world();
  Player(world).play(false, [&](const auto&, const PatrolPlan& plan, std::size_t) {
    const Duration next = next_sweep(plan, world.policy.sweeps);
    RC_ASSERT(next > 0ms);
    RC_ASSERT(next <= world.policy.sweeps.longest);
    for (const PatrolDecision& decision : plan.tasks) {
      if (!decision.next || decision.next->in <= 0ms) continue;
      const Duration late = decision.on_ladder ? 0ms : world.policy.sweeps.shortest;
      RC_ASSERT(next <= std::max(decision.next->in, late));
    }
  });
}

RC_GTEST_PROP(Patrol, foretells_what_it_does, ()) {
  World world = *a_world();
  for (Life& life : world.lives) {
    const WorkerIs worker = life.minutes.front().second;
    for (auto& minute : life.minutes) minute = {Doing::nothing, worker};
  }
  world.sleeps.assign(kMinutes, false);
  world.policy.incident_size = 1000;
  std::map<std::string, PatrolNext> foretold;  // of the last sweep, a minute ago
  Player(world).play(true, [&](const auto&, const PatrolPlan& plan, std::size_t) {
    for (const PatrolDecision& decision : plan.tasks) {
      const auto before = foretold.find(decision.task);
      const bool known = before != foretold.end();
      const bool due = known && before->second.in <= 1min;
      if (!decision.rungs.empty() && known) RC_ASSERT(due);
      if (due && plan.unfit == PatrolUnfit::fit) {
        RC_ASSERT(has(decision, before->second.rung));
      }
      foretold.erase(decision.task);
      if (decision.next) foretold.emplace(decision.task, *decision.next);
    }
  });
}

}  // namespace
}  // namespace tend
