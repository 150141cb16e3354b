// The ladder by tables, then everything that holds it back, then the words.
#include "judge/patrol.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "judge/patrol_testing.h"

namespace tend {

// So that a failure can be read.
void PrintTo(PatrolRung rung, std::ostream* out) { *out << word(rung); }

namespace {

using namespace std::chrono_literals;
using enum PatrolRung;
using Rungs = std::vector<PatrolRung>;

using Taken = std::vector<std::pair<Duration, PatrolRung>>;

bool says(const PatrolDecision& decision, std::string_view words) {
  return std::ranges::any_of(decision.because,
                             [&](const std::string& line) { return line.contains(words); });
}

std::string all_words(const PatrolDecision& decision) {
  std::string all;
  for (const std::string& line : decision.because) all += line + "\n";
  return all;
}

// The ladder.

TEST(Patrol, climbs_the_ladder_that_the_context_and_the_worker_allow) {
  struct Row {
    std::string_view about;
    PatrolContext context;
    WorkerFacts worker;
    Taken taken;  // within an hour and a half, looked at every minute
  };
  using enum PatrolContext;
  using enum WorkerIs;
  const auto agent = [](Verdict verdict) { return WorkerFacts{"P", WorkerIs::kept, verdict}; };
  const auto ended = [](ChildEnd end) { return WorkerFacts{"P", WorkerIs::over, {}, end}; };
  const Taken told{{6min, warn}, {10min, ping}, {15min, escalate}};
  const Taken works{{6min, warn}, {10min, ping}, {30min, escalate}};
  const Taken lost{{5min, warn}, {15min, escalate}, {15min, reassign}};
  const Taken freed{{5min, warn}, {5min, reassign}, {15min, escalate}};
  const Taken handed_over{{5min, warn}, {5min, escalate}};
  const std::vector<Row> rows{
      {"a name", active, {"P", no_trace}, told},
      {"a name at night",
       overnight,
       {"P", no_trace},
       {{18min, warn}, {30min, ping}, {45min, escalate}}},
      {"a name that matters",
       critical,
       {"P", no_trace},
       {{3min, warn}, {5min, ping}, {8min, escalate}}},
      {"nobody to ask", active, {"", no_trace}, {{6min, warn}, {15min, escalate}}},
      {"could not be seen", active, {"P", unseen}, told},
      {"its process is there", active, {"P", alive}, told},
      {"its process is gone", active, {"P", gone}, lost},
      {"its process is gone at night",
       overnight,
       {"P", gone},
       {{15min, warn}, {45min, escalate}, {45min, reassign}}},
      {"it lost its keeper", active, {"P", unkept}, told},
      {"works", active, agent(Verdict::working), works},
      {"waits", active, agent(Verdict::waiting), works},
      {"idle", active, agent(Verdict::idle), told},
      {"suspect", active, agent(Verdict::suspect), told},
      {"stalled", active, agent(Verdict::stalled), told},
      {"looping", active, agent(Verdict::looping), told},
      {"orphaned", active, agent(Verdict::orphaned), told},
      {"ended well", active, ended(ChildEnd::done), handed_over},
      {"gave up", active, ended(ChildEnd::withdrawn), handed_over},
      {"failed", active, ended(ChildEnd::failed), freed},
      {"was stopped", active, ended(ChildEnd::stopped), freed},
      {"is over somehow", active, ended(ChildEnd::none), freed},
      {"may come back after its parent", active, ended(ChildEnd::orphaned), lost},
      {"may come back after the machine", active, ended(ChildEnd::shutdown), lost},
  };
  for (const Row& row : rows) {
    Home home;
    home.add("T").context = row.context;
    home.task().worker = row.worker;
    EXPECT_EQ(home.watched_until(90min), row.taken) << row.about;
  }
}

TEST(Patrol, counts_a_beat_as_missed_only_after_it_may_not_just_be_late) {
  Home home;
  home.add("T");
  EXPECT_EQ(home.at(5min).missed, 0U);
  EXPECT_EQ(home.rungs_at(6min - 1ms), Rungs{});
  EXPECT_EQ(home.rungs_at(6min), Rungs{warn});
  EXPECT_EQ(home.at(10min - 1ms).missed, 1U);
  EXPECT_EQ(home.at(10min).missed, 2U);
}

TEST(Patrol, takes_all_rungs_that_are_due_at_once_but_waits_for_an_answer) {
  Home home;
  home.policy().sweeps.usual = 1h;  // it is not late
  home.add("T");
  EXPECT_EQ(home.rungs_at(40min), (Rungs{warn, ping}));
  EXPECT_EQ(home.rungs_at(45min - 1ms), Rungs{});
  EXPECT_EQ(home.rungs_at(45min), Rungs{escalate});
}

TEST(Patrol, obeys_a_ladder_of_ones_own) {
  struct Row {
    std::array<std::uint32_t, kPatrolRungs> missed;
    Taken taken;
  };
  const std::vector<Row> rows{
      {{0, 0, 0, 0}, {}},
      {{0, 0, 0, 4}, {{20min, reassign}}},
      {{0, 2, 0, 0}, {}},
      {{2, 0, 1, 0}, {{5min, escalate}, {10min, warn}}},
      {{1, 0, 0, 1}, {{5min, warn}, {5min, reassign}}},
  };
  for (const Row& row : rows) {
    Home home;
    home.policy().paces[0].ladder.missed = row.missed;
    home.add("T", WorkerIs::gone);
    EXPECT_EQ(home.watched_until(1h), row.taken);
  }
}

TEST(Patrol, does_not_wait_for_an_answer_where_pings_are_off_or_come_later) {
  Home home;
  home.policy().paces[0].ladder.missed = {1, 0, 2, 0};
  home.add("T");
  EXPECT_EQ(home.watched_until(1h), (Taken{{6min, warn}, {10min, escalate}}));
  Home other;
  other.policy().paces[0].ladder.missed = {0, 4, 3, 0};
  other.add("T");
  EXPECT_EQ(other.watched_until(1h), (Taken{{15min, escalate}, {20min, ping}}));
}

TEST(Patrol, escalates_a_worker_that_works_never_if_that_is_off) {
  Home home;
  home.policy().paces[0].ladder.escalate_working = PatrolLadder::kOff;
  home.add("T", WorkerIs::kept).worker.verdict = Verdict::working;
  EXPECT_EQ(home.watched_until(5h), (Taken{{6min, warn}, {10min, ping}}));
}

TEST(Patrol, is_not_harder_on_a_worker_that_works_than_on_others) {
  Home home;
  home.policy().paces[0].ladder.missed = {1, 2, 8, 8};
  home.add("T", WorkerIs::kept).worker.verdict = Verdict::working;
  EXPECT_EQ(home.watched_until(1h), (Taken{{6min, warn}, {10min, ping}, {40min, escalate}}));
}

TEST(Patrol, can_wait_for_longer_than_there_is_time) {
  Home home;
  home.policy().paces[0].interval = kLongestTime;
  home.policy().paces[0].ladder.missed.fill(std::numeric_limits<std::uint32_t>::max());
  home.add("T", WorkerIs::gone);
  EXPECT_EQ(home.watched_until(1h), Taken{});
  EXPECT_FALSE(home.at(1h).next.has_value());
}

// Episodes.

TEST(Patrol, begins_anew_after_a_beat) {
  Home home;
  home.add("T");
  home.watched_until(11min);
  home.beat(12min);
  EXPECT_EQ(home.watched_until(40min, 12min),
            (Taken{{18min, warn}, {22min, ping}, {27min, escalate}}));
}

TEST(Patrol, begins_anew_with_a_new_holder) {
  Home home;
  home.add("T");
  home.watched_until(30min);
  home.task().fence = 2;
  EXPECT_EQ(home.rungs_at(31min), (Rungs{warn, ping}));
}

TEST(Patrol, takes_an_answer_to_a_ping_for_a_sign) {
  Home home;
  home.add("T");
  home.watched_until(12min);  // pinged at 10
  home.pong(12min);
  EXPECT_EQ(home.at(13min).silence, 1min);
  EXPECT_TRUE(says(home.at(13min), "it answered a ping: it counts as silent for 1m"));
  EXPECT_EQ(home.watched_until(40min, 14min),
            (Taken{{18min, warn}, {22min, ping}, {27min, escalate}}));
  Home mute;  // no letter can be written there
  mute.add("T");
  mute.watched_until(12min);
  mute.memory("T").not_done(ping);
  mute.pong(12min);
  EXPECT_EQ(mute.at(13min).silence, 1min);
}

TEST(Patrol, takes_progress_before_a_ping_for_no_answer) {
  Home home;
  home.add("T");
  home.pong(10min);
  EXPECT_EQ(home.watched_until(40min), (Taken{{6min, warn}, {10min, ping}, {15min, escalate}}));
}

TEST(Patrol, counts_each_answer_once) {
  Home home;
  home.add("T");
  home.watched_until(12min);
  home.pong(12min);
  home.watched_until(23min, 13min);  // pinged again at 22
  home.pong(24min);
  EXPECT_EQ(home.watched_until(38min, 25min), (Taken{{30min, warn}, {34min, ping}}));
}

TEST(Patrol, hears_an_answer_also_after_the_calendar_was_set_back) {
  Home home;
  home.add("T");
  home.watched_until(11min);  // pinged at 10
  home.step_calendar(-8min);
  home.sweep(12min, {.calendar_stepped = true});
  home.pong(13min);
  EXPECT_EQ(home.at(14min).silence, 1min);
}

TEST(Patrol, tries_again_what_could_not_be_done_and_escalates_all_the_same) {
  Home home;
  home.add("T");
  Taken all;
  for (Duration time = 1min; time <= 16min; time += 1min) {
    for (const PatrolRung rung : home.rungs_at(time)) all.emplace_back(time, rung);
    if (time < 13min) home.memory("T").not_done(ping);
  }
  EXPECT_EQ(all, (Taken{{6min, warn},
                        {10min, ping},
                        {11min, ping},
                        {12min, ping},
                        {13min, ping},
                        {15min, escalate}}));
}

TEST(Patrol, forgets_a_task_that_is_not_there_any_more) {
  Home home;
  home.add("T");
  home.watched_until(12min);
  const std::vector<TaskFacts> none;
  plan_patrol(none, home.policy(), home.state(), {.now = Instant{13min}});
  EXPECT_TRUE(home.state().tasks.empty());
}

// Workers.

TEST(Patrol, reassigns_as_soon_as_it_is_proven_that_the_worker_is_gone) {
  Home home;
  home.add("T", WorkerIs::unseen).worker.unseen_because = "cannot read .heartbeat";
  home.watched_until(50min);
  EXPECT_TRUE(says(home.at(50min), "could not be looked at: cannot read .heartbeat"));
  EXPECT_TRUE(says(home.at(50min), "reassign waits: nobody has proven that it is gone"));
  home.task().worker.is = WorkerIs::gone;
  EXPECT_EQ(home.rungs_at(51min), Rungs{reassign});
}

TEST(Patrol, leaves_a_keeper_an_interval_to_close_the_task_of_one_that_ended) {
  Home home;
  home.add("T", WorkerIs::kept).worker.verdict = Verdict::working;
  home.watched_until(20min);
  home.task().worker = {"PinkHill", WorkerIs::over, {}, ChildEnd::failed, 1min};
  EXPECT_EQ(home.rungs_at(21min), Rungs{escalate});
  home.task().worker.ended_ago = 5min - 1ms;
  EXPECT_EQ(home.rungs_at(25min - 1ms), Rungs{});
  home.task().worker.ended_ago = 5min;
  EXPECT_EQ(home.rungs_at(25min), Rungs{reassign});
}

TEST(Patrol, frees_a_task_in_time_whose_worker_ended_by_a_calendar_that_was_put_back_since) {
  Home home;
  home.add("T", WorkerIs::kept).worker.verdict = Verdict::working;
  home.watched_until(20min);
  home.task().worker = {"PinkHill", WorkerIs::over, {}, ChildEnd::stopped, -1h};
  EXPECT_EQ(home.rungs_at(21min), Rungs{escalate});
  EXPECT_EQ(home.rungs_at(26min - 1ms), Rungs{});
  EXPECT_EQ(home.rungs_at(26min), Rungs{reassign});
}

TEST(Patrol, leaves_the_next_keeper_an_interval_too_when_its_worker_ends_again) {
  Home home;
  home.add("T").worker = {"PinkHill", WorkerIs::over, {}, ChildEnd::failed, -1h};
  home.watched_until(4min);
  home.task().worker = {"PinkHill", WorkerIs::kept, Verdict::working};
  home.watched_until(20min, 5min);
  home.task().worker = {"PinkHill", WorkerIs::over, {}, ChildEnd::failed, -1h};
  EXPECT_EQ(home.rungs_at(21min), Rungs{escalate});
  EXPECT_EQ(home.rungs_at(26min - 1ms), Rungs{});
  EXPECT_EQ(home.rungs_at(26min), Rungs{reassign});
}

TEST(Patrol, leaves_a_task_alone_that_somebody_beats_for_after_its_worker_ended) {
  Home home;
  home.add("T").worker = {"PinkHill", WorkerIs::over, {}, ChildEnd::failed, 1h};
  EXPECT_EQ(home.rungs_at(5min - 1ms), Rungs{});
  EXPECT_EQ(home.rungs_at(5min), (Rungs{warn, reassign}));
}

TEST(Patrol, says_that_a_worker_ended_well_and_leaves_the_task_to_a_person) {
  Home home;
  home.add("T", WorkerIs::over).worker.end = ChildEnd::done;
  EXPECT_EQ(home.rungs_at(5min), (Rungs{warn, escalate}));
  EXPECT_EQ(home.rungs_at(10min), Rungs{});
  EXPECT_TRUE(says(home.at(16min), "its worker PinkHill ended well and did not close it"));
  EXPECT_TRUE(says(home.at(16min), "somebody has to decide"));
  EXPECT_FALSE(home.at(16min).next.has_value());
}

// What is not in progress.

TEST(Patrol, warns_once_of_open_work_that_nobody_takes) {
  Home home;
  home.add("T", WorkerIs::no_trace, "").status = TaskIs::open;
  EXPECT_EQ(home.watched_until(3h), (Taken{{30min, warn}}));
  EXPECT_TRUE(says(home.at(3h), "open for 3h: nobody takes it"));
  home.task().status = TaskIs::in_progress;
  home.task().fence = 2;
  home.beat(3h);
  EXPECT_EQ(home.rungs_at(3h + 6min), Rungs{warn});
}

TEST(Patrol, warns_of_open_work_also_after_an_episode_of_its_last_holder) {
  Home home;
  home.add("T");
  home.watched_until(29min);
  home.task().status = TaskIs::open;
  EXPECT_EQ(home.rungs_at(30min), Rungs{warn});
}

TEST(Patrol, names_whom_open_work_is_meant_for) {
  Home home;
  home.add("T").status = TaskIs::open;
  EXPECT_TRUE(says(home.at(1min), "it is meant for PinkHill, who does not take it"));
  EXPECT_EQ(home.at(1min).next->words, "warn in 29m, unless it is taken");
}

TEST(Patrol, never_touches_what_is_blocked_closed_or_not_ours) {
  for (const TaskIs status : {TaskIs::blocked, TaskIs::closed, TaskIs::other}) {
    Home home;
    home.add("T", WorkerIs::gone).status = status;
    EXPECT_EQ(home.watched_until(5h), Taken{});
    EXPECT_FALSE(home.at(5h).because.empty());
    EXPECT_FALSE(home.at(5h).next.has_value());
  }
}

// Many at once.

/// `silent` of `all` tasks last beat at about minute 0, the others beat on.
class ManyTasks : public Home {
 public:
  ManyTasks(std::size_t silent, std::size_t all, WorkerIs worker = WorkerIs::no_trace)
      : silent_(silent), all_(all) {
    for (std::size_t i = 0; i < all; ++i) {
      add("T" + std::to_string(i), worker, "W" + std::to_string(i));
    }
  }
  void is_silent(std::size_t silent) { silent_ = silent; }
  const PatrolPlan& sweep_all(Duration at) {
    for (std::size_t i = silent_; i < all_; ++i) beat(at, i);
    return sweep(at);
  }
  PatrolIncident::Is incident_at(Duration at) { return sweep_all(at).incident.is; }

 private:
  std::size_t silent_;
  std::size_t all_;
};

using Is = PatrolIncident::Is;

TEST(PatrolIncidents, begin_with_three_tasks_and_half_of_all) {
  struct Row {
    std::size_t silent;
    std::size_t all;
    Is is;
  };
  for (const Row& row : std::vector<Row>{{2, 2, Is::none},
                                         {3, 3, Is::begins},
                                         {3, 6, Is::begins},
                                         {3, 7, Is::none},
                                         {4, 7, Is::begins}}) {
    ManyTasks home(row.silent, row.all);
    EXPECT_EQ(home.incident_at(1min), Is::none);
    EXPECT_EQ(home.incident_at(6min), row.is) << row.silent << " of " << row.all;
  }
}

TEST(PatrolIncidents, S23_are_three_of_four_and_not_three_of_thirty) {
  for (const auto& [all, is] : {std::pair{std::size_t{4}, Is::begins}, {30, Is::none}}) {
    ManyTasks home(3, all, WorkerIs::gone);
    home.sweep_all(1min);
    EXPECT_EQ(home.incident_at(6min), is) << "3 of " << all;
  }
}

TEST(PatrolIncidents, hold_every_member_back_and_are_told_once) {
  ManyTasks home(3, 4, WorkerIs::gone);
  home.sweep_all(1min);
  EXPECT_EQ(home.incident_at(6min), Is::begins);
  for (Duration time = 7min; time < 2h; time += 1min) {
    const PatrolPlan& plan = home.sweep_all(time);
    EXPECT_EQ(plan.incident.is, Is::goes_on);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(plan.tasks[i].rungs, Rungs{});
      EXPECT_EQ(plan.tasks[i].held, HeldBack::incident);
      EXPECT_TRUE(says(plan.tasks[i], "part of an incident"));
    }
    EXPECT_EQ(plan.tasks[3].held, HeldBack::no);
  }
}

TEST(PatrolIncidents, end_when_fewer_are_silent_and_then_the_ladder_goes_on) {
  ManyTasks home(3, 4);
  home.sweep_all(1min);
  EXPECT_EQ(home.incident_at(6min), Is::begins);
  EXPECT_EQ(home.incident_at(14min), Is::goes_on);
  EXPECT_EQ(home.sweep_all(14min).tasks[0].next->words, "ping, once the incident is over");
  home.is_silent(2);
  const PatrolPlan plan = home.sweep_all(16min);
  EXPECT_EQ(plan.incident.is, Is::ends);
  EXPECT_EQ(plan.incident.why, "only 2 of 4 tasks are silent");
  EXPECT_EQ(plan.tasks[0].rungs, Rungs{ping});
  EXPECT_EQ(home.incident_at(17min), Is::none);
}

TEST(PatrolIncidents, go_on_while_as_many_are_silent_whenever_that_began) {
  ManyTasks home(4, 6);
  home.sweep_all(1min);
  EXPECT_EQ(home.incident_at(6min), Is::begins);
  for (Duration time = 7min; time <= 60min; time += 1min) {
    // One comes back for a while, and is silent again when another one comes back.
    if (time <= 30min) home.beat(time, 0);
    if (time > 36min) home.beat(time, 1);
    EXPECT_EQ(home.incident_at(time), Is::goes_on) << time.count();
  }
}

TEST(PatrolIncidents, are_of_different_workers) {
  ManyTasks home(4, 4);
  home.task(1).worker.name = home.task(2).worker.name = "W0";
  home.sweep_all(1min);
  EXPECT_EQ(home.incident_at(6min), Is::none) << "two workers";
  home.task(1).worker.name = "W1";
  EXPECT_EQ(home.incident_at(7min), Is::begins);
}

TEST(PatrolIncidents, are_of_one_time) {
  struct Row {
    Duration last_of_three;
    Is is;
  };
  for (const Row& row : std::vector<Row>{{15min, Is::begins}, {15min + 1ms, Is::none}}) {
    Home home;
    for (int i = 0; i < 3; ++i) home.add("T" + std::to_string(i), {}, "W" + std::to_string(i));
    for (Duration time = 1min; time <= 15min; time += 1min) {
      home.beat(std::min<Duration>(time, 10min), 1);
      home.beat(time, 2);
      EXPECT_EQ(home.sweep(time).incident.is, Is::none);
    }
    home.beat(row.last_of_three, 2);
    EXPECT_EQ(home.sweep(20min).incident.is, Is::none);
    EXPECT_EQ(home.sweep(22min).incident.is, row.is);
  }
}

TEST(PatrolIncidents, have_no_members_that_were_done_or_told_to_stop) {
  for (const ChildEnd end : {ChildEnd::done, ChildEnd::withdrawn, ChildEnd::stopped}) {
    ManyTasks home(4, 4, WorkerIs::over);
    for (std::size_t i = 0; i < 4; ++i) home.task(i).worker.end = end;
    home.sweep_all(1min);
    EXPECT_EQ(home.incident_at(6min), Is::none);
  }
  ManyTasks home(4, 4, WorkerIs::over);
  for (std::size_t i = 0; i < 4; ++i) home.task(i).worker.end = ChildEnd::failed;
  home.sweep_all(1min);
  const PatrolPlan& plan = home.sweep_all(5min);
  EXPECT_EQ(plan.incident.is, Is::begins);
  EXPECT_EQ(plan.incident.why, "4 of 4 tasks are silent: one cause is likely");
  EXPECT_EQ(plan.tasks[0].rungs, Rungs{warn}) << "new workers would fail as well";
}

// Fitness.

TEST(PatrolFitness, only_warns_in_its_first_two_sweeps) {
  Home home;
  home.add("T", WorkerIs::gone);
  home.state() = {};
  const PatrolPlan first = home.sweep(1h);
  EXPECT_EQ(first.unfit, PatrolUnfit::began);
  EXPECT_EQ(first.unfit_because, "the patrol has just begun");
  EXPECT_EQ(first.tasks[0].rungs, Rungs{warn});
  EXPECT_EQ(first.tasks[0].held, HeldBack::unfit);
  EXPECT_EQ(home.rungs_at(65min), Rungs{});
  EXPECT_EQ(home.rungs_at(70min), (Rungs{escalate, reassign}));
}

TEST(PatrolFitness, is_not_had_back_by_sweeping_in_a_hurry) {
  Home home;
  home.add("T", WorkerIs::gone);
  home.state() = {};
  home.sweep(1h);
  for (Duration time = 1h; time < 65min; time += 10s)
    EXPECT_NE(home.sweep(time).unfit, PatrolUnfit::fit);
  EXPECT_EQ(home.sweep(65min).unfit, PatrolUnfit::fit);
}

TEST(PatrolFitness, is_lost_when_nobody_looked_and_that_time_does_not_count) {
  Home home;
  home.add("T", WorkerIs::gone);
  home.rungs_at(5min);
  const Duration asked = home.state().asked;
  const PatrolPlan late = home.sweep(65min);
  EXPECT_EQ(late.unfit, PatrolUnfit::late);
  EXPECT_EQ(late.tasks[0].silence, 5min + asked);
  EXPECT_TRUE(says(late.tasks[0], "nobody looked before")) << all_words(late.tasks[0]);
  const Duration left = 15min - late.tasks[0].silence;
  EXPECT_EQ(home.watched_until(100min, 66min),
            (Taken{{65min + left, escalate}, {65min + left, reassign}}));
}

TEST(PatrolFitness, is_not_lost_by_a_sweep_that_comes_when_it_was_asked_for) {
  Home home;
  Duration time = 0min;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(home.state().asked, i == 0 ? 5min : 10min);
    time += home.state().asked + 1s;
    EXPECT_EQ(home.sweep(time).unfit, PatrolUnfit::fit);
  }
}

TEST(PatrolFitness, is_lost_by_a_sleep_and_by_a_step_of_the_calendar) {
  for (const PatrolUnfit why : {PatrolUnfit::slept, PatrolUnfit::calendar}) {
    Home home;
    home.add("T", WorkerIs::gone);
    home.sweep(1min);
    home.step_calendar(8h);
    PatrolWatch watch;
    watch.slept = why == PatrolUnfit::slept;
    watch.calendar_stepped = why == PatrolUnfit::calendar;
    watch.unwatched = 8h;
    const PatrolPlan plan = home.sweep(4min, watch);
    EXPECT_EQ(plan.unfit, why);
    EXPECT_FALSE(plan.unfit_because.empty());
    EXPECT_EQ(plan.tasks[0].rungs, Rungs{});
    EXPECT_EQ(home.watched_until(20min, 5min),
              (Taken{{5min, warn}, {15min, escalate}, {15min, reassign}}));
  }
}

TEST(PatrolFitness, is_lost_when_it_is_told_that_nobody_looked) {
  Home home;
  EXPECT_EQ(home.sweep(5min, {.unwatched = 1min - 1ms}).unfit, PatrolUnfit::fit);
  EXPECT_EQ(home.sweep(10min, {.unwatched = 1min}).unfit, PatrolUnfit::late);
}

TEST(PatrolFitness, is_not_lost_by_a_sweep_that_took_long) {
  Home home;
  EXPECT_EQ(home.sweep(5min).unfit, PatrolUnfit::fit);
  EXPECT_EQ(home.sweep(45min, {.busy = 30min}).unfit, PatrolUnfit::fit);
  EXPECT_EQ(home.sweep(86min, {.busy = 20min}).unfit, PatrolUnfit::late);
}

TEST(PatrolFitness, is_lost_when_its_clock_is_of_another_boot) {
  Home home;
  home.add("T", WorkerIs::gone);
  home.state().last_sweep = Instant{300h};
  EXPECT_EQ(home.sweep(20min).unfit, PatrolUnfit::began);
}

TEST(PatrolFitness, is_needed_to_find_an_incident_and_to_see_its_end) {
  ManyTasks home(3, 3);
  home.state().last_sweep.reset();
  EXPECT_EQ(home.incident_at(6min), Is::none);
  EXPECT_EQ(home.incident_at(7min), Is::none);
  EXPECT_EQ(home.incident_at(12min), Is::begins);
  EXPECT_EQ(home.incident_at(3h), Is::goes_on) << "unfit";
  home.is_silent(0);
  EXPECT_EQ(home.incident_at(182min), Is::goes_on) << "unfit";
  EXPECT_EQ(home.incident_at(190min), Is::ends);
}

TEST(PatrolFitness, lets_a_sign_from_the_future_count_from_when_it_was_seen) {
  Home home;
  home.add("T");
  home.beat(1000h);
  EXPECT_EQ(home.at(1min).silence, 0min);
  EXPECT_TRUE(says(home.at(1min), "from now, as the calendar has it"));
  EXPECT_EQ(home.watched_until(20min, 2min),
            (Taken{{7min, warn}, {11min, ping}, {16min, escalate}}));
}

// Words, and when to look again.

TEST(PatrolWords, say_what_was_missed_by_whom_and_what_comes_next) {
  Home home;
  home.add("T", WorkerIs::kept).worker.verdict = Verdict::working;
  home.rungs_at(6min);
  const PatrolDecision& at_twelve = home.at(12min + 3s);
  EXPECT_EQ(at_twelve.because,
            (std::vector<std::string>{"last beat 12m3s ago, 2 beats missed (interval 5m)",
                                      "its worker PinkHill is kept and working",
                                      "done in this episode: warn"}));
  EXPECT_EQ(at_twelve.rungs, Rungs{ping});
  ASSERT_TRUE(at_twelve.next.has_value());
  EXPECT_EQ(at_twelve.next->rung, escalate);
  EXPECT_EQ(at_twelve.next->words, "escalate in 17m57s, unless it beats or answers before");
  EXPECT_TRUE(says(home.at(20min), "reassign waits: its worker is there"));
}

TEST(PatrolWords, say_that_a_task_never_beat) {
  Home home;
  home.add("T").beat = false;
  EXPECT_EQ(home.at(7min).because.front(),
            "never beat, last change 7m ago, 1 beat missed (interval 5m)");
  home.task().worker.name.clear();
  EXPECT_TRUE(says(home.at(8min), "nobody is named as its worker"));
}

TEST(PatrolSweeps, are_rare_when_all_is_quiet_and_come_in_time_for_what_is_due) {
  struct Row {
    Duration silence;
    Duration next;
  };
  for (const Row& row : std::vector<Row>{{0min, 6min},            // the warning
                                         {3min, 3min},            //
                                         {5min + 30s, 1min},      // not before the shortest
                                         {6min, 2min},            // halfway to the ping
                                         {9min, 1min},            //
                                         {9min + 40s, 20s},       // in time for the ping
                                         {10min, 2min + 30s}}) {  // halfway to the escalation
    Home home;
    home.add("T");
    EXPECT_EQ(next_sweep(home.sweep(row.silence), {}), row.next) << row.silence.count();
  }
  Home quiet;
  EXPECT_EQ(next_sweep(quiet.sweep(1min), {}), 10min);
}

TEST(PatrolSweeps, go_on_as_usual_while_somebody_is_missed_and_nothing_more_is_due) {
  Home home;
  home.add("T");
  home.watched_until(30min);
  EXPECT_FALSE(home.at(31min).next.has_value());
  EXPECT_EQ(next_sweep(home.sweep(31min), {}), 5min);
}

}  // namespace
}  // namespace tend
