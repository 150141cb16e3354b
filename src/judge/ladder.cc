// Episodes, rungs and deadlines (contract, section 6); see ladder.h.
#include "judge/ladder.h"

#include <algorithm>

namespace tend {

namespace {

using namespace std::chrono_literals;

constexpr Duration kStartsWithin = 90s;  // no new life after a resume: escalate
constexpr Duration kLoopHeldFor = 30min;
constexpr std::uint32_t kFailedStarts = 2;  // then restart instead of resume

bool is_trouble(Verdict v) {
  return v == Verdict::suspect || v == Verdict::stalled || v == Verdict::dead ||
         v == Verdict::looping;
}

bool ends_episode(Verdict v) {
  return v == Verdict::working || v == Verdict::waiting || v == Verdict::idle ||
         v == Verdict::finished || v == Verdict::starting;
}

Reason because(Because what) {
  Reason reason;
  reason.because = what;
  return reason;
}

/// "silent 720 s in phase model (limit 720 s)", or the contradiction that made it suspect.
Reason why_in_doubt(const Scene& scene) {
  const Silence& silence = scene.finding.silence;
  Reason reason = because(Because::silent_past);
  switch (scene.finding.disagreement) {
    case Disagreement::stopped:
      reason.because = Because::stopped_without_pause;
      return reason;
    case Disagreement::stuck:
      reason.because = Because::stuck_by_own_word;
      return reason;
    case Disagreement::turn_after_record:
      reason.because = Because::record_and_turn;
      return reason;
    case Disagreement::idle_in_tool:
      reason.because = Because::idle_in_tool;
      return reason;
    case Disagreement::none:
      break;
  }
  reason.phase = silence.phase;
  reason.age = scene.clocks.silence() - silence.base;
  reason.limit = silence.deadline - silence.base;
  return reason;
}

Reason why_gone(const Scene& scene) {
  const Life& life = scene.evidence.life;
  Reason reason = because(Because::process_exited);
  reason.process = *life.probe;
  reason.exit = life.exit;
  return reason;
}

/// The name of the open tool, if that is where the agent is.
Name tool_at(const Scene& scene) {
  const bool in_tool = scene.finding.silence.phase == Phase::tool;
  return in_tool ? scene.finding.silence.name : Name();
}

Name cause_of_death(const Life& life) {
  if (life.error_stands) return life.last_error;
  switch (life.exit.how) {
    case Exit::How::code:
      return Name("exit " + std::to_string(life.exit.value));
    case Exit::How::signal:
      return Name("signal " + std::to_string(life.exit.value));
    case Exit::How::unknown:
      break;
  }
  return Name("exit unknown");
}

bool ordered_to_exit(const Scene& scene) {
  return scene.exiting.by == ExitBy::stop || scene.exiting.by == ExitBy::drain;
}

/// Some programs never promised to show anything: their silence alone never kills them. One that is
/// asked has promised to answer.
bool may_be_killed_for_silence(const Scene& scene) {
  if (ordered_to_exit(scene)) return true;
  const bool was_asked = scene.finding.silence.because == Because::not_answered_yet;
  if (was_asked && scene.policy.promise != Promise::watched) return true;
  switch (scene.policy.promise) {
    case Promise::stream:
      return true;
    case Promise::beats:
      return scene.evidence.life.beat_seen || scene.evidence.life.stream_seen;
    case Promise::nothing:
    case Promise::watched:
      return false;
  }
  return false;
}

}  // namespace

Decision& Ladder::act(const Scene& scene, Verdict verdict, Action action, const Reason& why,
                      std::vector<Decision>& out) {
  Decision& decision = out.emplace_back();
  decision.kind = Decision::Kind::action;
  decision.verdict = verdict;
  decision.phase = scene.finding.silence.phase;
  decision.action = action;
  decision.reasons[0] = why;
  decision.reason_count = 1;
  return decision;
}

void Ladder::life_began() {
  episode_ = Episode{};
  looping_until_.reset();
  loop_told_ = false;
  granted_ = false;
  stopped_told_ = false;
  stuck_told_ = false;
  lingers_since_.reset();
  lingers_told_ = false;
}

// ---- The verdict, tempered by history

Verdict Ladder::settle(const Scene& scene) {
  const Verdict found = scene.finding.verdict;
  keep_account(scene, found);
  // It did not get well: it is over for now, and whoever lets it go on finds the hold as it was.
  if (looping_until_ && found == Verdict::finished && ordered_to_exit(scene)) return found;
  if (ends_episode(found)) {
    episode_ = Episode{};
    looping_until_.reset();
    loop_told_ = false;
    granted_ = false;
    return found;
  }
  if (found == Verdict::unknown) {
    episode_.orphaned.reset();  // its grace starts anew
    return found;
  }
  episode_.open = true;
  if (found == Verdict::orphaned) {
    looping_until_.reset();
    return found;
  }

  if (looping_until_) {
    if (!scene.horizon.due(*looping_until_)) return Verdict::looping;
    looping_until_.reset();
    const bool warned = episode_.warned;
    episode_ = Episode{};
    episode_.open = true;
    episode_.warned = warned;
    episode_.stall_counted = true;
    granted_ = true;
    if (found == Verdict::dead) note_death(scene.evidence);
    return found;
  }

  if (found == Verdict::stalled && !episode_.stall_counted && !ordered_to_exit(scene) &&
      may_be_killed_for_silence(scene)) {
    episode_.stall_counted = true;
    return count_end(scene, Name("silence"), found);
  }
  return found == Verdict::dead ? settle_death(scene) : found;
}

Verdict Ladder::settle_death(const Scene& scene) {
  const Life& life = scene.evidence.life;
  const bool is_new = note_death(scene.evidence);
  if (is_new) {
    death_is_free_ = scene.finding.unfit != Unfit::fit || died_with_parent(life, scene.policy) ||
                     life.went_in_hold;
    if (life.real_seen) failed_starts_ = 0;
    if (life.by_resume && !life.real_seen) ++failed_starts_;
  }
  if (death_is_free_ || granted_ || died_an_orphan(scene.evidence.life, scene.policy))
    return Verdict::dead;
  // The death after our own kill was counted as a stall.
  if (is_new && !ended_by_us(life)) return count_end(scene, cause_of_death(life), Verdict::dead);
  const bool answered = death_answered_ || episode_.resumed;
  return answered ? Verdict::dead : loop_if_spent(scene, Verdict::dead);
}

bool Ladder::note_death(const Evidence& evidence) {
  const bool is_new = dead_life_ != evidence.life_number || dead_since_ != evidence.life.went;
  dead_life_ = evidence.life_number;
  dead_since_ = evidence.life.went;
  if (is_new) death_answered_ = false;
  return is_new;
}

Verdict Ladder::count_end(const Scene& scene, const Name& cause, Verdict found) {
  End end;
  end.cause = cause;
  end.phase = scene.finding.silence.phase;
  end.tool = tool_at(scene);
  const std::uint32_t times = spending_.count(end);
  if (times >= kSameEndLoops) {
    Reason reason = because(Because::same_end_again);
    reason.count = times;
    reason.name = cause;
    reason.phase = end.phase;
    begin_loop(scene, reason);
    return Verdict::looping;
  }
  return loop_if_spent(scene, found);
}

Verdict Ladder::loop_if_spent(const Scene& scene, Verdict found) {
  if (!spending_.spent(scene.policy.budget)) return found;
  Reason reason = because(Because::budget_spent);
  reason.count = spending_.total();
  begin_loop(scene, reason);
  return Verdict::looping;
}

void Ladder::begin_loop(const Scene& scene, const Reason& why) {
  looping_until_ = scene.clocks.active() + kLoopHeldFor;
  looping_because_ = why;
  loop_told_ = false;
  granted_ = false;
  (void)scene.horizon.due(*looping_until_);
}

void Ladder::keep_account(const Scene& scene, Verdict found) {
  if (scene.evidence.refills != refills_seen_) {
    refills_seen_ = scene.evidence.refills;
    spending_.refill();
  }
  if (is_trouble(found)) {
    const Duration refill_after = scene.policy.budget.refill_after;
    if (healthy_since_ && scene.clocks.awake() - *healthy_since_ >= refill_after) {
      spending_.refill();
    }
    healthy_since_.reset();
  } else if (found != Verdict::unknown && !healthy_since_) {
    healthy_since_ = scene.clocks.awake();
  }
}

// ---- The rungs

void Ladder::climb(const Scene& scene, Verdict verdict, std::vector<Decision>& decisions) {
  if (scene.clocks.paused()) return;  // nothing is done then
  notices(scene, verdict, decisions);
  gate(scene, verdict, decisions);
  configured_rungs(scene, verdict, decisions);
  switch (verdict) {
    case Verdict::suspect:
      suspect(scene, decisions);
      break;
    case Verdict::stalled:
      stalled(scene, decisions);
      break;
    case Verdict::dead:
      dead(scene, decisions);
      break;
    case Verdict::orphaned:
      orphaned(scene, decisions);
      break;
    case Verdict::looping:
      looping(scene, decisions);
      break;
    default:
      break;
  }
}

void Ladder::suspect(const Scene& scene, std::vector<Decision>& out) {
  if (episode_.warned) return;
  episode_.warned = true;
  const Reason why = why_in_doubt(scene);
  act(scene, Verdict::suspect, Action::warn, why, out);
  act(scene, Verdict::suspect, Action::ping, why, out);
}

void Ladder::stalled(const Scene& scene, std::vector<Decision>& out) {
  const Verdict verdict = Verdict::stalled;
  const bool without_kill = scene.finding.silence.all_ended;
  if (episode_.killed) return escalate_if_still_there(scene, verdict, out);
  if (without_kill && episode_.resumed) return escalate_if_not_started(scene, verdict, out);

  const Planes planes = look_at_planes(scene.evidence, scene.policy, scene.finding.silence,
                                       scene.exiting, scene.horizon);
  Reason obstacle;
  bool blocked = true;
  if (!may_be_killed_for_silence(scene)) {
    obstacle = scene.policy.promise == Promise::watched ? why_in_doubt(scene)
                                                        : because(Because::not_promised);
  } else if (scene.fitness.fleet_is_silent(scene.horizon)) {
    obstacle = because(Because::fleet_silent);
    obstacle.count = scene.fitness.fleet_silent();
    obstacle.limit = Duration{scene.fitness.fleet_of()};
  } else if (planes.agreeing() < kPlanesNeeded) {
    obstacle = because(Because::planes_missing);
    obstacle.count = planes.agreeing();
  } else {
    blocked = false;
  }
  if (blocked) {
    if (episode_.escalated_instead) return;
    episode_.escalated_instead = true;
    act(scene, verdict, Action::escalate, obstacle, out);
    return;
  }
  const Reason why = why_in_doubt(scene);
  without_kill ? bring_back(scene, verdict, why, out) : kill(scene, verdict, why, out);
}

void Ladder::dead(const Scene& scene, std::vector<Decision>& out) {
  if (scene.finding.unfit != Unfit::fit) return;  // destructive actions wait for a fit observer
  if (died_an_orphan(scene.evidence.life, scene.policy)) {
    reassign(scene, Verdict::dead, because(Because::orphan_died), out);
    return;
  }
  if (scene.policy.promise == Promise::watched) return tell_of_death(scene, out);
  if (episode_.resumed) return escalate_if_not_started(scene, Verdict::dead, out);
  if (death_answered_) return;  // it looked finished in between, and that answer waits
  death_answered_ = true;
  bring_back(scene, Verdict::dead, why_gone(scene), out);
}

/// Its own system may bring it back.
void Ladder::tell_of_death(const Scene& scene, std::vector<Decision>& out) {
  const ActiveTime went = scene.evidence.life.went;
  if (episode_.resume_escalated || !scene.horizon.due(went + kStartsWithin)) return;
  episode_.resume_escalated = true;
  act(scene, Verdict::dead, Action::escalate, why_gone(scene), out);
}

void Ladder::orphaned(const Scene& scene, std::vector<Decision>& out) {
  const Verdict verdict = Verdict::orphaned;
  if (!episode_.orphaned) episode_.orphaned = scene.clocks.active();
  if (episode_.killed) return escalate_if_still_there(scene, verdict, out);
  if (!scene.horizon.due(*episode_.orphaned + scene.policy.limits.grace)) return;
  Reason why = because(Because::parent_dead);
  why.age = scene.clocks.active() - *scene.evidence.life.parent_died;
  why.limit = scene.policy.limits.orphan + scene.policy.limits.grace;
  if (scene.fitness.fleet_is_silent(scene.horizon)) {
    if (episode_.escalated_instead) return;
    episode_.escalated_instead = true;
    act(scene, verdict, Action::escalate, why, out);
    return;
  }
  kill(scene, verdict, why, out);
}

void Ladder::looping(const Scene& scene, std::vector<Decision>& out) {
  const Verdict verdict = Verdict::looping;
  if (!loop_told_) {
    loop_told_ = true;
    act(scene, verdict, Action::hold, looping_because_, out);
    act(scene, verdict, Action::escalate, looping_because_, out);
  }
  if (scene.finding.unfit != Unfit::fit) return;
  const bool proven = scene.evidence.life.gone() ||
                      (scene.finding.verdict == Verdict::stalled &&
                       look_at_planes(scene.evidence, scene.policy, scene.finding.silence,
                                      scene.exiting, scene.horizon)
                               .agreeing() >= kPlanesNeeded);
  if (proven) reassign(scene, verdict, looping_because_, out);
}

void Ladder::kill(const Scene& scene, Verdict verdict, const Reason& why,
                  std::vector<Decision>& out) {
  act(scene, verdict, Action::preserve, why, out);
  act(scene, verdict, Action::kill, why, out);
  episode_.killed = scene.clocks.active();
  scene.evidence.life.killed = scene.clocks.active();
  scene.evidence.life.worked_since_kill = false;
  (void)scene.horizon.due(*episode_.killed + kKillWorksWithin);
}

void Ladder::bring_back(const Scene& scene, Verdict verdict, const Reason& why,
                        std::vector<Decision>& out) {
  const bool anew =
      scene.policy.direct || !scene.evidence.stream_ever || failed_starts_ >= kFailedStarts;
  act(scene, verdict, Action::preserve, why, out);
  act(scene, verdict, anew ? Action::restart : Action::resume, why, out);
  episode_.resumed = scene.clocks.active();
  scene.evidence.next_life_by_resume = !anew;
  const bool free = granted_ || (verdict == Verdict::dead && death_is_free_);
  if (!free) spending_.spend();
  granted_ = false;
  (void)scene.horizon.due(*episode_.resumed + kStartsWithin);
}

void Ladder::reassign(const Scene& scene, Verdict verdict, const Reason& why,
                      std::vector<Decision>& out) {
  if (episode_.reassigned || !scene.evidence.holds_task()) return;
  episode_.reassigned = true;
  act(scene, verdict, Action::preserve, why, out);
  for (const ClaimedTask& task : scene.evidence.tasks) {
    act(scene, verdict, Action::reassign, why, out).task = task.name;
  }
}

void Ladder::escalate_if_still_there(const Scene& scene, Verdict verdict,
                                     std::vector<Decision>& out) {
  if (episode_.kill_escalated || !scene.horizon.due(*episode_.killed + kKillWorksWithin)) return;
  episode_.kill_escalated = true;
  Reason why = because(Because::still_there);
  why.age = scene.clocks.active() - *episode_.killed;
  act(scene, verdict, Action::escalate, why, out);
}

void Ladder::escalate_if_not_started(const Scene& scene, Verdict verdict,
                                     std::vector<Decision>& out) {
  if (episode_.resume_escalated || !scene.horizon.due(*episode_.resumed + kStartsWithin)) return;
  episode_.resume_escalated = true;
  Reason why = because(Because::not_started);
  why.age = scene.clocks.active() - *episode_.resumed;
  act(scene, verdict, Action::escalate, why, out);
}

// ---- Degrade and undegrade

/// Nobody who writes to it is heard.
bool Ladder::is_down(const Scene& scene, Verdict verdict) {
  const std::optional<Hold>& hold = scene.evidence.life.hold;
  const bool refused = verdict == Verdict::waiting && hold && hold->cause == Cause::auth;
  return refused || verdict == Verdict::stalled || verdict == Verdict::dead ||
         verdict == Verdict::looping;
}

/// Whoever can be asked is well once it has answered: what it shows by itself may be its last.
bool Ladder::is_up(const Scene& scene, Verdict verdict) {
  const Life& life = scene.evidence.life;
  const bool at_work =
      verdict == Verdict::working || verdict == Verdict::waiting || verdict == Verdict::idle;
  return at_work && life.real_seen && !life.gone() && !is_down(scene, verdict) &&
         (life.answered || !scene.policy.asks());
}

void Ladder::gate(const Scene& scene, Verdict verdict, std::vector<Decision>& out) {
  if (is_down(scene, verdict) && !degraded_) {
    degraded_ = true;
    scene.evidence.life.answered = false;
    const Reason why = verdict == Verdict::looping   ? looping_because_
                       : verdict == Verdict::dead    ? why_gone(scene)
                       : verdict == Verdict::waiting ? because(Because::credentials_refused)
                                                     : why_in_doubt(scene);
    act(scene, verdict, Action::degrade, why, out);
  }
  if (degraded_ && is_up(scene, verdict)) {
    degraded_ = false;
    act(scene, verdict, Action::undegrade, because(Because::works_again), out);
  }
}

}  // namespace tend
