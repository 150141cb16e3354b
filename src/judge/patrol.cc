// Three passes over a sweep: what is remembered of each task is brought up to date, then the sweep
// is judged as a whole, then each task by itself.
#include "judge/patrol.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/check.h"
#include "base/duration.h"

namespace tend {
namespace {

constexpr std::array kRungsInOrder{PatrolRung::warn, PatrolRung::ping, PatrolRung::escalate,
                                   PatrolRung::reassign};

/// One task in this sweep.
struct Look {
  const TaskFacts& facts;
  PatrolPace pace;
  PatrolMemory& memory;
  Duration silence;
  std::uint32_t missed;
};

// Beats and silence.

/// The silence at which that many beats are missed. Only the first may just be late: who missed two
/// is not late by less than a whole interval.
Duration silence_of(const PatrolPace& pace, std::uint32_t missed) {
  if (missed == PatrolLadder::kOff || pace.interval > kNoLimit / missed) return kNoLimit;
  return missed == 1 ? pace.interval + pace.tolerance : pace.interval * missed;
}

std::uint32_t missed_beats(const PatrolPace& pace, Duration silence) {
  if (silence < silence_of(pace, 1)) return 0;
  constexpr std::int64_t kMost = 1'000'000;  // enough for words
  return static_cast<std::uint32_t>(std::min(silence / pace.interval, kMost));
}

// What the worker allows.

bool is_kept_and_works(const WorkerFacts& worker) {
  return worker.is == WorkerIs::kept &&
         (worker.verdict == Verdict::starting || worker.verdict == Verdict::working ||
          worker.verdict == Verdict::waiting);
}

bool is_proven_gone(const WorkerFacts& worker) {
  return worker.is == WorkerIs::over || worker.is == WorkerIs::gone;
}

bool can_answer(const WorkerFacts& worker) {
  return !worker.name.empty() && !is_proven_gone(worker);
}

/// It ended with a word about the task: to be told, and not to be tried by another.
bool had_its_say(const WorkerFacts& worker) {
  return worker.is == WorkerIs::over &&
         (worker.end == ChildEnd::done || worker.end == ChildEnd::withdrawn);
}

/// It ended, and nobody is going to bring it back.
bool ended_for_good(const WorkerFacts& worker) {
  return worker.is == WorkerIs::over &&
         (worker.end == ChildEnd::failed || worker.end == ChildEnd::stopped ||
          worker.end == ChildEnd::none);
}

/// One interval after its end: its keeper may just be closing the task. The end says by the
/// calendar when it was, and that may have been put back since: who is seen to be over is over.
Duration after_grace(const Look& look) {
  const std::optional<Duration>& ended = look.facts.worker.ended_ago;
  const Duration said =
      ended ? look.silence - std::max(*ended, Duration::zero()) : Duration::zero();
  const Duration ended_at = std::min(said, look.memory.over_at.value_or(said));
  return std::max(ended_at, Duration::zero()) + look.pace.interval;
}

// When a rung is due, in silence; kNoLimit: never.

Duration ping_due(const Look& look) {
  if (!can_answer(look.facts.worker)) return kNoLimit;
  return silence_of(look.pace, look.pace.ladder.of(PatrolRung::ping));
}

Duration escalate_due(const Look& look) {
  const PatrolLadder& ladder = look.pace.ladder;
  const std::uint32_t missed = ladder.of(PatrolRung::escalate);
  if (missed == PatrolLadder::kOff) return kNoLimit;
  const WorkerFacts& worker = look.facts.worker;
  if (had_its_say(worker)) return after_grace(look);

  const bool works = is_kept_and_works(worker);
  if (works && ladder.escalate_working == PatrolLadder::kOff) return kNoLimit;
  const Duration due =
      silence_of(look.pace, works ? std::max(missed, ladder.escalate_working) : missed);
  if (!can_answer(worker)) return due;
  // Who was asked has an interval to answer in, and whom no mail reaches has no longer.
  if (look.memory.pinged_at) return std::max(due, *look.memory.pinged_at + look.pace.interval);
  const Duration asked = ping_due(look);
  if (asked > due) return due;
  return std::max(due, std::max(asked, look.silence) + look.pace.interval);
}

Duration reassign_due(const Look& look) {
  const std::uint32_t missed = look.pace.ladder.of(PatrolRung::reassign);
  const WorkerFacts& worker = look.facts.worker;
  if (missed == PatrolLadder::kOff || !is_proven_gone(worker) || had_its_say(worker)) {
    return kNoLimit;
  }
  return ended_for_good(worker) ? after_grace(look) : silence_of(look.pace, missed);
}

Duration due_of(const Look& look, PatrolRung rung) {
  switch (rung) {
    case PatrolRung::warn:
      return silence_of(look.pace, look.pace.ladder.of(PatrolRung::warn));
    case PatrolRung::ping:
      return ping_due(look);
    case PatrolRung::escalate:
      return escalate_due(look);
    case PatrolRung::reassign:
      break;
  }
  return reassign_due(look);
}

// Words.

std::string in_seconds(Duration duration) {
  return format_duration(std::chrono::floor<std::chrono::seconds>(duration));
}

std::string end_words(ChildEnd end) {
  switch (end) {
    case ChildEnd::done:
      return " ended well and did not close it";
    case ChildEnd::withdrawn:
      return " ended and says that it cannot be done";
    case ChildEnd::failed:
      return " failed, and is not to be brought back";
    case ChildEnd::stopped:
      return " was stopped by order";
    case ChildEnd::orphaned:
      return " ended because its parent was gone, and may be brought back";
    case ChildEnd::shutdown:
      return " ended with the machine, and may be brought back";
    case ChildEnd::none:
      break;
  }
  return " is over, and nobody knows how it ended";
}

std::string worker_words(const WorkerFacts& worker) {
  const std::string who = worker.name.empty() ? "its worker" : "its worker " + worker.name;
  switch (worker.is) {
    case WorkerIs::kept:
      return who + " is kept and " + std::string(word(worker.verdict));
    case WorkerIs::unkept:
      return who + " has lost its keeper";
    case WorkerIs::over:
      return who + end_words(worker.end);
    case WorkerIs::alive:
      return who + " has a process, and that is there";
    case WorkerIs::gone:
      return who + " had a process, and that is gone";
    case WorkerIs::unseen:
      return who + " could not be looked at" +
             (worker.unseen_because.empty() ? "" : ": " + worker.unseen_because);
    case WorkerIs::no_trace:
      break;
  }
  if (worker.name.empty()) return "nobody is named as its worker";
  return "of " + who + " nothing but the name is known";
}

std::string sign_words(const Look& look) {
  const TaskFacts& facts = look.facts;
  const std::string what = facts.beat ? "last beat " : "never beat, last change ";
  if (facts.age < Duration::zero()) {
    return what + in_seconds(-facts.age) + " from now, as the calendar has it";
  }
  const std::string beats = look.missed == 0   ? "no beat"
                            : look.missed == 1 ? "1 beat"
                                               : std::to_string(look.missed) + " beats";
  return what + in_seconds(facts.age) + " ago, " + beats + " missed (interval " +
         format_duration(look.pace.interval) + ")";
}

/// Why the silence is not the age; "" if it is.
std::string excuse_words(const PatrolMemory& memory, Duration silence) {
  if (memory.excused == Duration::zero()) return "";
  if (memory.answered) return "it answered a ping: it counts as silent for " + in_seconds(silence);
  return "it counts as silent for " + in_seconds(silence) + ": nobody looked before";
}

std::string taken_words(const PatrolMemory& memory) {
  std::string words;
  for (const PatrolRung rung : kRungsInOrder) {
    if (!memory.took(rung)) continue;
    words += (words.empty() ? "done in this episode: " : ", ") + std::string(word(rung));
  }
  return words;
}

/// Why a claim that could be taken by now is not; "" if nothing is in the way.
std::string reassign_waits(const Look& look) {
  const std::uint32_t missed = look.pace.ladder.of(PatrolRung::reassign);
  if (look.silence < silence_of(look.pace, missed)) return "";
  const WorkerFacts& worker = look.facts.worker;
  switch (worker.is) {
    case WorkerIs::kept:
    case WorkerIs::alive:
      return "reassign waits: its worker is there";
    case WorkerIs::unkept:
    case WorkerIs::no_trace:
    case WorkerIs::unseen:
      return "reassign waits: nobody has proven that it is gone";
    case WorkerIs::over:
    case WorkerIs::gone:
      break;
  }
  return had_its_say(worker) ? "reassign waits: its worker has had its say, somebody has to decide"
                             : "";
}

std::string_view held_words(HeldBack held) {
  switch (held) {
    case HeldBack::unfit:
      return "held back: the patrol only warns until it has looked for a while";
    case HeldBack::incident:
      return "held back: part of an incident";
    case HeldBack::no:
      break;
  }
  return "";
}

std::string next_words(const Look& look, PatrolRung rung, Duration in, HeldBack held) {
  const std::string what(word(rung));
  if (in == Duration::zero()) {
    return what + (held == HeldBack::incident ? ", once the incident is over"
                                              : ", once the patrol has looked for a while");
  }
  const bool asked = rung == PatrolRung::escalate && look.memory.took(PatrolRung::ping);
  return what + " in " + in_seconds(in) +
         (asked ? ", unless it beats or answers before" : ", unless it beats before");
}

void say(std::vector<std::string>& because, std::string words) {
  if (!words.empty()) because.push_back(std::move(words));
}

// One task.

/// What comes first of that which was not taken.
std::optional<PatrolNext> next_of(const Look& look, HeldBack held) {
  std::optional<PatrolNext> next;
  for (const PatrolRung rung : kRungsInOrder) {
    if (look.memory.took(rung)) continue;
    const Duration due = due_of(look, rung);
    if (due >= kNoLimit) continue;
    const Duration in = std::max(due - look.silence, Duration::zero());
    if (!next || in < next->in) next = {rung, in, ""};
  }
  if (next) next->words = next_words(look, next->rung, next->in, held);
  return next;
}

void take_what_is_due(const Look& look, HeldBack held, PatrolDecision& decision) {
  for (const PatrolRung rung : kRungsInOrder) {
    if (look.memory.took(rung) || due_of(look, rung) > look.silence) continue;
    if (rung != PatrolRung::warn && held != HeldBack::no) {
      decision.held = held;
      continue;
    }
    look.memory.taken.at(static_cast<std::size_t>(rung)) = true;
    if (rung == PatrolRung::ping && !look.memory.pinged_at) look.memory.pinged_at = look.silence;
    decision.rungs.push_back(rung);
  }
}

void decide_in_progress(const Look& look, HeldBack held, PatrolDecision& decision) {
  const std::string before = taken_words(look.memory);
  if (held == HeldBack::incident) decision.held = held;
  take_what_is_due(look, held, decision);
  decision.missed = look.missed;
  decision.on_ladder = look.missed > 0 || std::ranges::any_of(look.memory.taken, std::identity{});

  say(decision.because, sign_words(look));
  say(decision.because, excuse_words(look.memory, look.silence));
  say(decision.because, worker_words(look.facts.worker));
  say(decision.because, before);
  say(decision.because, reassign_waits(look));
  say(decision.because, std::string(held_words(decision.held)));
  decision.next = next_of(look, decision.held);
}

void decide_open_task(const Look& look, Duration limit, PatrolDecision& decision) {
  const std::string& meant_for = look.facts.worker.name;
  const std::string nobody = meant_for.empty()
                                 ? "nobody takes it"
                                 : "it is meant for " + meant_for + ", who does not take it";
  say(decision.because, "open for " + in_seconds(look.facts.age) + ": " + nobody);
  say(decision.because, excuse_words(look.memory, look.silence));
  if (look.memory.took(PatrolRung::warn)) {
    say(decision.because, taken_words(look.memory));
  } else if (look.silence >= limit) {
    look.memory.taken.at(static_cast<std::size_t>(PatrolRung::warn)) = true;
    decision.rungs.push_back(PatrolRung::warn);
  } else if (limit < kNoLimit) {
    const Duration in = limit - look.silence;
    decision.next = {PatrolRung::warn, in, "warn in " + in_seconds(in) + ", unless it is taken"};
  }
}

/// Silent, and not because its worker said so or was told to.
bool is_silent(const Look& look) {
  const bool told_to_stop =
      look.facts.worker.is == WorkerIs::over && look.facts.worker.end == ChildEnd::stopped;
  return look.facts.status == TaskIs::in_progress && look.missed > 0 && !told_to_stop &&
         !had_its_say(look.facts.worker);
}

PatrolDecision decide(const Look& look, const PatrolPolicy& policy, HeldBack held) {
  PatrolDecision decision;
  decision.task = look.facts.id;
  decision.silence = look.silence;
  switch (look.facts.status) {
    case TaskIs::in_progress:
      if (held == HeldBack::incident && !is_silent(look)) held = HeldBack::no;
      decide_in_progress(look, held, decision);
      break;
    case TaskIs::open:
      decide_open_task(look, policy.untaken_after, decision);
      break;
    case TaskIs::blocked:
      say(decision.because, "it is blocked: it is left alone");
      break;
    case TaskIs::closed:
      say(decision.because, "it is closed");
      break;
    case TaskIs::other:
      say(decision.because, "its status is not one of ours: it is left alone");
      break;
  }
  return decision;
}

// What is remembered.

/// An answer that came after the ping ends the episode: silence begins anew with it. It does not
/// matter whether the ping arrived.
Duration heed_answer(const TaskFacts& facts, PatrolMemory& memory, Duration silence) {
  if (!memory.pinged_at || !facts.pong_age) return silence;
  const Duration since = std::max(*facts.pong_age, Duration::zero());
  const Duration answered_at = silence - since;
  if (answered_at <= *memory.pinged_at) return silence;
  memory.excused += answered_at;
  memory.answered = true;
  if (memory.over_at) *memory.over_at -= answered_at;
  memory.taken = {};
  memory.pinged_at.reset();
  return since;
}

Look look_at(const TaskFacts& facts, const PatrolPolicy& policy, Duration unwatched,
             PatrolMemory& memory) {
  const bool same_episode = memory.status == facts.status && memory.fence == facts.fence &&
                            memory.last_sign == facts.last_sign;
  if (!same_episode) {
    memory = {};
    memory.status = facts.status;
    memory.fence = facts.fence;
    memory.last_sign = facts.last_sign;
  }
  // Never more than the age: what is from the future begins to count when it is first seen.
  memory.excused = std::min(facts.age, memory.excused + unwatched);
  Duration silence = facts.age - memory.excused;
  if (memory.pinged_at) memory.pinged_at = std::min(*memory.pinged_at, silence);
  silence = heed_answer(facts, memory, silence);
  if (facts.worker.is == WorkerIs::over) {
    memory.over_at = std::min(memory.over_at.value_or(silence), silence);
  } else {
    memory.over_at.reset();
  }

  PatrolPace pace = policy.of(facts.context);
  if (is_proven_gone(facts.worker)) pace.tolerance = Duration::zero();  // it is not just late
  const bool beats = facts.status == TaskIs::in_progress;
  return {facts, pace, memory, silence, beats ? missed_beats(pace, silence) : 0};
}

void forget_others(std::span<const TaskFacts> tasks, PatrolState& state) {
  std::vector<std::string_view> ids;
  ids.reserve(tasks.size());
  for (const TaskFacts& facts : tasks) ids.push_back(facts.id);
  std::ranges::sort(ids);
  std::erase_if(state.tasks, [&](const auto& kept) {
    return !std::ranges::binary_search(ids, std::string_view(kept.first));
  });
}

// The sweep as a whole: is the observer fit?

Duration gap_before(const PatrolState& state, const PatrolWatch& watch) {
  return watch.now - *state.last_sweep - std::max(watch.busy, Duration::zero());
}

bool came_late(const PatrolState& state, const PatrolBounds& sweeps, const PatrolWatch& watch) {
  return gap_before(state, watch) > std::max(2 * sweeps.usual, state.asked + sweeps.usual);
}

PatrolUnfit what_is_wrong(const PatrolState& state, const PatrolBounds& sweeps,
                          const PatrolWatch& watch) {
  if (!state.last_sweep || watch.now < *state.last_sweep) return PatrolUnfit::began;
  if (watch.slept) return PatrolUnfit::slept;
  if (watch.calendar_stepped) return PatrolUnfit::calendar;
  const bool unwatched = watch.unwatched >= sweeps.shortest;
  return unwatched || came_late(state, sweeps, watch) ? PatrolUnfit::late : PatrolUnfit::fit;
}

/// How much of the ages nobody watched.
Duration unwatched_of(const PatrolState& state, const PatrolBounds& sweeps,
                      const PatrolWatch& watch) {
  const Duration told = std::max(watch.unwatched, Duration::zero());
  if (!state.last_sweep || !came_late(state, sweeps, watch)) return told;
  const Duration expected = std::max(state.asked, sweeps.usual);
  return std::max(told, gap_before(state, watch) - expected);
}

/// Unfit are the sweep that finds something wrong and the next, however soon that comes.
void look_at_oneself(PatrolState& state, const PatrolBounds& sweeps, const PatrolWatch& watch) {
  const PatrolUnfit wrong = what_is_wrong(state, sweeps, watch);
  if (wrong != PatrolUnfit::fit) {
    state.unfit = wrong;
    state.unfit_since = watch.now;
    state.sweeps_since = 1;
  } else if (state.unfit != PatrolUnfit::fit) {
    ++state.sweeps_since;
    const bool long_enough = watch.now - state.unfit_since >= sweeps.usual;
    if (state.sweeps_since > 2 && long_enough) state.unfit = PatrolUnfit::fit;
  }
}

std::string_view unfit_words(PatrolUnfit unfit) {
  switch (unfit) {
    case PatrolUnfit::began:
      return "the patrol has just begun";
    case PatrolUnfit::late:
      return "nobody looked for a while";
    case PatrolUnfit::slept:
      return "the machine slept";
    case PatrolUnfit::calendar:
      return "the calendar was set";
    case PatrolUnfit::fit:
      break;
  }
  return "";
}

// The sweep as a whole: is it one incident?

struct Silent {
  Duration since;  // the first missed beat
  std::string_view worker;
};

bool are_many(std::span<const Silent> silent, std::size_t of, std::uint32_t size) {
  if (silent.size() < size || 2 * silent.size() < of) return false;
  std::vector<std::string_view> workers;
  workers.reserve(silent.size());
  for (const Silent& one : silent) workers.push_back(one.worker);
  std::ranges::sort(workers);
  const auto doubled = std::ranges::unique(workers);
  return workers.size() - doubled.size() >= size;
}

/// True if enough of them fell silent within the same window. Requires that they are sorted.
bool fell_together(std::span<const Silent> silent, std::size_t of, const PatrolPolicy& policy) {
  std::size_t end = 0;
  for (std::size_t begin = 0; begin < silent.size(); ++begin) {
    const std::size_t before = end;
    while (end < silent.size() &&
           silent[end].since - silent[begin].since <= policy.incident_within) {
      ++end;
    }
    // A window that ends where the last one did is a part of it.
    if (end == before) continue;
    if (are_many(silent.subspan(begin, end - begin), of, policy.incident_size)) return true;
  }
  return false;
}

PatrolIncident judge_incident(std::span<const Look> looks, const PatrolPolicy& policy,
                              PatrolState& state) {
  using enum PatrolIncident::Is;
  std::vector<Silent> silent;
  std::uint32_t of = 0;
  for (const Look& look : looks) {
    if (look.facts.status != TaskIs::in_progress) continue;
    ++of;
    if (!is_silent(look)) continue;
    silent.push_back({look.silence - silence_of(look.pace, 1), look.facts.worker.name});
  }
  std::ranges::sort(silent, {}, [](const Silent& s) { return std::pair(s.since, s.worker); });

  PatrolIncident incident;
  incident.silent = static_cast<std::uint32_t>(silent.size());
  incident.of = of;
  const bool before = state.incident;
  // Who is not fit neither finds an incident nor sees the end of one.
  if (state.unfit == PatrolUnfit::fit) {
    state.incident =
        before ? are_many(silent, of, policy.incident_size) : fell_together(silent, of, policy);
  }
  incident.is = state.incident ? (before ? goes_on : begins) : (before ? ends : none);
  if (incident.is == none) return incident;
  const std::string count =
      std::to_string(incident.silent) + " of " + std::to_string(of) + " tasks are silent";
  incident.why = incident.is == ends ? "only " + count : count + ": one cause is likely";
  return incident;
}

void check(const PatrolPolicy& policy) {
  for (const PatrolPace& pace : policy.paces) {
    CHECK(pace.interval > Duration::zero());
    CHECK(pace.tolerance >= Duration::zero() && pace.tolerance <= pace.interval);
  }
}

}  // namespace

PatrolPlan plan_patrol(std::span<const TaskFacts> tasks, const PatrolPolicy& policy,
                       PatrolState& state, const PatrolWatch& watch) {
  check(policy);
  const Duration unwatched = unwatched_of(state, policy.sweeps, watch);
  look_at_oneself(state, policy.sweeps, watch);
  forget_others(tasks, state);

  std::vector<Look> looks;
  looks.reserve(tasks.size());
  for (const TaskFacts& facts : tasks) {
    looks.push_back(look_at(facts, policy, unwatched, state.tasks[facts.id]));
  }

  PatrolPlan plan;
  plan.unfit = state.unfit;
  plan.unfit_because = unfit_words(state.unfit);
  plan.incident = judge_incident(looks, policy, state);
  const HeldBack held = plan.unfit != PatrolUnfit::fit ? HeldBack::unfit
                        : state.incident               ? HeldBack::incident
                                                       : HeldBack::no;
  plan.tasks.reserve(looks.size());
  for (const Look& look : looks) plan.tasks.push_back(decide(look, policy, held));
  state.last_sweep = watch.now;
  state.asked = next_sweep(plan, policy.sweeps);
  return plan;
}

Duration next_sweep(const PatrolPlan& plan, const PatrolBounds& bounds) {
  const bool troubled = plan.unfit != PatrolUnfit::fit ||
                        plan.incident.is == PatrolIncident::Is::begins ||
                        plan.incident.is == PatrolIncident::Is::goes_on;
  Duration soon = troubled ? bounds.usual : bounds.longest;
  for (const PatrolDecision& task : plan.tasks) {
    if (task.on_ladder) soon = std::min(soon, bounds.usual);
    if (!task.next || task.next->in <= Duration::zero()) continue;
    const Duration in = task.next->in;
    // Halfway to what is due in an episode, and then just in time.
    soon = std::min(soon, task.on_ladder ? std::min(in, std::max(in / 2, bounds.shortest))
                                         : std::max(in, bounds.shortest));
  }
  return soon;
}

}  // namespace tend
