// What to do about tasks whose workers went silent: pure, from what one sweep found to what is due
// now, with its reasons and with what comes next.
//
// A beat is missed when its interval has gone by since the last sign. An episode begins with the
// first missed beat and ends with a new sign, an answer to a ping, or a new holder; within it each
// rung is taken once. Who is there is asked and never robbed: a claim is taken only from a worker
// that is proven gone, and only by an observer that is fit. Where many fall silent at once, the
// cause is one: it is told once, and each of them is held back.
//
// All that is remembered of an episode is kept in silence, the part of an age that counts: time
// that nobody watched is no part of it. So neither a sleep, a restart nor a step of the calendar
// makes a rung due.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "judge/recovery.h"
#include "judge/words.h"

namespace tend {

enum class PatrolRung : std::uint8_t { warn, ping, escalate, reassign };
inline constexpr std::array<std::string_view, 4> kPatrolRungWords{"warn", "ping", "escalate",
                                                                  "reassign"};
inline constexpr std::size_t kPatrolRungs = kPatrolRungWords.size();
constexpr std::string_view word(PatrolRung rung) {
  return kPatrolRungWords[static_cast<std::size_t>(rung)];
}

/// How soon a worker is missed; the contexts of tasks, in their order.
enum class PatrolContext : std::uint8_t { active, overnight, critical };
inline constexpr std::size_t kPatrolContexts = 3;

/// At how many missed beats each rung is due.
struct PatrolLadder {
  static constexpr std::uint32_t kOff = 0;
  /// In the order of PatrolRung.
  std::array<std::uint32_t, kPatrolRungs> missed{1, 2, 3, 3};
  /// Escalate, for a worker that is kept and works: its beats fail, not its work.
  std::uint32_t escalate_working = 6;

  [[nodiscard]] std::uint32_t of(PatrolRung rung) const {
    return missed.at(static_cast<std::size_t>(rung));
  }
};

/// How often a beat comes in one context. Requires 0 < interval and 0 <= tolerance <= interval.
struct PatrolPace {
  Duration interval = std::chrono::minutes{5};
  Duration tolerance = std::chrono::minutes{1};  // by which the first missed beat may just be late
  PatrolLadder ladder;
};

/// Half of the time after which a task is stale, give or take a fifth of that.
constexpr PatrolPace patrol_pace(Duration stale) {
  return {.interval = stale / 2, .tolerance = stale / 10, .ladder = {}};
}

/// How often to sweep. Requires 0 < shortest <= usual <= longest.
struct PatrolBounds {
  Duration shortest = std::chrono::minutes{1};
  Duration usual = std::chrono::minutes{5};
  Duration longest = std::chrono::minutes{10};
};

struct PatrolPolicy {
  std::array<PatrolPace, kPatrolContexts> paces{patrol_pace(std::chrono::minutes{10}),
                                                patrol_pace(std::chrono::minutes{30}),
                                                patrol_pace(std::chrono::minutes{5})};
  Duration untaken_after = std::chrono::minutes{30};    // open work that nobody takes
  std::uint32_t incident_size = 3;                      // that many tasks, of as many workers ...
  Duration incident_within = std::chrono::minutes{15};  // ... silent since about the same time
  PatrolBounds sweeps;

  [[nodiscard]] const PatrolPace& of(PatrolContext context) const {
    return paces.at(static_cast<std::size_t>(context));
  }
};

enum class TaskIs : std::uint8_t { open, in_progress, blocked, closed, other };

/// What is known of who holds a task.
enum class WorkerIs : std::uint8_t {
  kept,      // an agent whose keeper is alive; its verdict says more
  unkept,    // an agent whose keeper is dead or hangs; whether it lives is not proven
  over,      // an agent whose work ended, as its keeper wrote; its end says how
  alive,     // no agent of ours, but its recorded process is there
  gone,      // its recorded process is gone
  no_trace,  // a name, and nothing to check
  unseen,    // it could not be looked at; never counts as gone
};

struct WorkerFacts {
  std::string name;  // "": nobody is named
  WorkerIs is = WorkerIs::no_trace;
  Verdict verdict = Verdict::unknown;   // of one that is kept
  ChildEnd end = ChildEnd::none;        // of one that is over; none: it is not known how
  std::optional<Duration> ended_ago{};  // of one that is over
  std::string unseen_because{};         // of one that is unseen
};

/// One task as a sweep found it.
struct TaskFacts {
  std::string id;
  TaskIs status = TaskIs::in_progress;
  PatrolContext context = PatrolContext::active;
  std::int64_t fence = 0;
  /// Its last beat; of one that never beat, or that is open, its last change. It is only told apart
  /// from others: `age` is how long ago that was, below zero if the calendar says so.
  WallTime last_sign{};
  Duration age{};
  bool beat = true;  // the last sign is a beat
  /// Since its worker last acknowledged a mail or showed progress. It counts once a ping was sent.
  std::optional<Duration> pong_age{};
  WorkerFacts worker{};
};

/// What the patrol knows of itself at a sweep.
struct PatrolWatch {
  Instant now{};
  bool slept = false;             // the machine, since the last sweep
  bool calendar_stepped = false;  // since the last sweep
  /// How much of the ages passed while nobody looked: that sleep, that step. A gap between two
  /// sweeps is seen without it, and the longer of the two counts.
  Duration unwatched{};
  /// How long the last sweep went on after its plan: it waited for answers, and was there.
  Duration busy{};
};

/// The episode of one task.
struct PatrolMemory {
  TaskIs status = TaskIs::in_progress;
  std::int64_t fence = 0;
  WallTime last_sign{};
  Duration excused{};     // of the age: silence is the rest. Below zero: a sign from the future
  bool answered = false;  // silence counts from the answer to a ping
  std::array<bool, kPatrolRungs> taken{};
  std::optional<Duration> pinged_at;  // the silence when a ping was first tried
  std::optional<Duration> over_at;    // the silence when its worker was first seen to be over

  [[nodiscard]] bool took(PatrolRung rung) const {
    return taken.at(static_cast<std::size_t>(rung));
  }
  /// It could not be carried out: the next sweep decides it again.
  void not_done(PatrolRung rung) { taken.at(static_cast<std::size_t>(rung)) = false; }
};

enum class PatrolUnfit : std::uint8_t { fit, began, late, slept, calendar };

/// What the caller keeps from one sweep to the next. After a boot `last_sweep` means nothing and is
/// to be emptied.
struct PatrolState {
  std::map<std::string, PatrolMemory, std::less<>> tasks;  // by id
  std::optional<Instant> last_sweep;
  Duration asked{};  // when the last sweep wanted the next one
  PatrolUnfit unfit = PatrolUnfit::began;
  Instant unfit_since{};
  std::uint32_t sweeps_since = 0;  // since it became unfit, that sweep included
  bool incident = false;
};

/// Why rungs that are due were not taken.
enum class HeldBack : std::uint8_t { no, unfit, incident };

struct PatrolNext {
  PatrolRung rung = PatrolRung::warn;
  Duration in{};      // zero: as soon as it is not held back any more
  std::string words;  // "ping in 3m, unless it beats before"
};

struct PatrolDecision {
  std::string task;
  std::vector<PatrolRung> rungs;  // to be done now, in this order
  HeldBack held = HeldBack::no;
  Duration silence{};
  std::uint32_t missed = 0;  // beats; open work has none
  bool on_ladder = false;    // in an episode
  std::vector<std::string> because;
  std::optional<PatrolNext> next;  // none: only something new changes anything
};

struct PatrolIncident {
  enum class Is : std::uint8_t { none, begins, goes_on, ends };
  Is is = Is::none;  // begins and ends are to be told, once each
  std::uint32_t silent = 0;
  std::uint32_t of = 0;
  std::string why;
};

struct PatrolPlan {
  std::vector<PatrolDecision> tasks;  // one for each, in the order of the facts
  PatrolIncident incident;
  PatrolUnfit unfit = PatrolUnfit::fit;
  std::string unfit_because;  // "" if fit
};

/// One sweep. `tasks` are all tasks of the home that are not closed, each id once: what is not
/// among them is forgotten. The state counts every rung as done that the plan names.
PatrolPlan plan_patrol(std::span<const TaskFacts> tasks, const PatrolPolicy& policy,
                       PatrolState& state, const PatrolWatch& watch);

/// How long until the next sweep. Never later than a rung of an episode is due. The first warning
/// of a task that is well may come later than that, by less than `shortest`: most of them beat
/// before.
Duration next_sweep(const PatrolPlan& plan, const PatrolBounds& bounds);

}  // namespace tend
