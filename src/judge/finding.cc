// The order of judgement (contract, section 5), from the observer down to silence; see finding.h.
#include "judge/finding.h"

#include <algorithm>

namespace tend {

namespace {

using namespace std::chrono_literals;

constexpr Duration kExcuseGrace = 120s;  // nobody is suspect in the second an excuse ends
constexpr Duration kIdleInTool = 60s;

bool says_finished(const Life& life) {
  return life.record == Status::completed || life.record == Status::withdrawn;
}

bool in_trouble(Verdict verdict) {
  return verdict == Verdict::suspect || verdict == Verdict::stalled || verdict == Verdict::looping;
}

Disagreement look_for_disagreement(const Life& life, Horizon& horizon) {
  if (life.probe == ProcessState::stopped) return Disagreement::stopped;
  if (life.turn_after_record) return Disagreement::turn_after_record;
  if (life.stuck) return Disagreement::stuck;
  if (life.idle_in_tool) {
    for (const Tool& tool : life.tools) {
      if (tool.foreground_of_lead() && horizon.due(tool.opened + kIdleInTool)) {
        return Disagreement::idle_in_tool;
      }
    }
  }
  return Disagreement::none;
}

/// Begins and ends rounds of unfitness.
void watch_fitness(const Finding& finding, Verdict before, Watch& watch, const Clocks& clocks) {
  if (finding.unfit != Unfit::fit && !watch.unfit_since) {
    watch.unfit_since = clocks.awake();
    watch.trouble_before = in_trouble(before);
    watch.stalled = false;
  } else if (finding.unfit == Unfit::fit && watch.unfit_since) {
    watch.unfit_since.reset();
    watch.fit_since = clocks.silence();
    watch.stalled = false;
  }
}

/// An order to exit excuses too: whoever is told to go has nothing else to show, and when the order
/// is taken back its silence was not its own.
void watch_excuses(const Finding& finding, const Exiting& exiting, Watch& watch,
                   const Clocks& clocks) {
  const bool unfit_excuses = watch.unfit_since && !watch.trouble_before;
  const bool ordered = exiting.by == ExitBy::stop || exiting.by == ExitBy::drain;
  const bool excused = unfit_excuses || ordered || clocks.paused() || finding.silence.excused ||
                       watch.new_policy.has_value();
  if (watch.excused && !excused) watch.excuse_over = clocks.silence();
  watch.excused = excused;
}

/// When a suspect is stalled: `confirm` later, put off by weak signs up to the ceiling.
SilenceTime stalled_at(const Silence& silence, const Policy& policy, const Watch& watch) {
  const Duration confirm = policy.direct ? Duration{} : policy.limits.confirm;
  const SilenceTime fit_and_late = std::max(silence.deadline, watch.fit_since);
  const SilenceTime confirmed = std::max(fit_and_late + confirm, silence.stalled_from);
  if (!watch.weak || *watch.weak < silence.deadline) return confirmed;
  const SilenceTime put_off = std::max(confirmed, *watch.weak + confirm);
  return std::min(put_off, std::max(confirmed, silence.ceiling));
}

/// The last steps of the order: within the limit, suspect, stalled.
Verdict judge_silence(Silence& silence, const Life& life, const Policy& policy, Watch& watch,
                      Horizon& horizon) {
  if (watch.excuse_over) {
    const SilenceTime grace = *watch.excuse_over + std::min(silence.limit, kExcuseGrace);
    silence.deadline = std::max(silence.deadline, grace);
  }
  if (watch.new_policy || !silence.limited || !horizon.due(silence.deadline)) {
    watch.stalled = false;
    return silence.calm;
  }
  // A weak sign in the very moment that `stalled` is due comes too late to put it off.
  if (life.last_weak && *life.last_weak < stalled_at(silence, policy, watch)) {
    watch.weak = life.last_weak;
  }
  if (!watch.stalled) watch.stalled = horizon.due(stalled_at(silence, policy, watch));
  return watch.stalled ? Verdict::stalled : Verdict::suspect;
}

/// Whoever is not ours to keep may go when it has nothing to do, or has said that it will; how it
/// exited nobody sees.
bool left_as_announced(const Life& life, const Policy& policy) {
  return policy.promise == Promise::watched && life.exit.how == Exit::How::unknown &&
         (life.state == SelfState::idle || life.state == SelfState::exiting);
}

Verdict judge_gone(const Evidence& evidence, const Policy& policy, Finding& finding) {
  const Life& life = evidence.life;
  if (evidence.want == Want::stop) return Verdict::finished;
  const bool work_over = life.stream_seen ? life.stage == Stage::rest : !evidence.holds_task();
  if (evidence.want == Want::drain && work_over) return Verdict::finished;
  if (life.hold && !life.hold->over) {
    finding.held_by_provider = true;
    return evidence.want == Want::pause ? Verdict::dead : Verdict::waiting;
  }
  // Who is asked is there to be spoken to: that it had nothing to do is no end.
  const bool went_unseen = policy.asks() && life.exit.how == Exit::How::unknown && !life.exiting;
  const bool clean = (ended_cleanly(evidence) && !went_unseen) || left_as_announced(life, policy);
  return clean ? Verdict::finished : Verdict::dead;
}

}  // namespace

bool ended_cleanly(const Evidence& evidence) {
  const Life& life = evidence.life;
  if (ended_by_us(life)) return false;
  const bool exit_zero = life.exit == Exit{Exit::How::code, 0};
  if (!life.stream_seen) return exit_zero;
  const bool done = life.exiting || (life.stage == Stage::rest && !life.turn_failed);
  if (life.exit.how != Exit::How::unknown) return exit_zero && done;
  const bool waits = life.background_running() && !life.exiting;
  return done && !waits && evidence.inbox == 0 && !evidence.holds_task();
}

bool ended_by_us(const Life& life) {
  if (!life.killed) return false;
  return !life.worked_since_kill || life.went <= *life.killed + kKillWorksWithin;
}

bool died_with_parent(const Life& life, const Policy& policy) {
  if (!life.parent_died || life.parent == ParentState::alive) return false;
  return life.went - *life.parent_died <= policy.limits.orphan;
}

bool died_an_orphan(const Life& life, const Policy& policy) {
  if (!life.gone() || life.parent != ParentState::dead || !life.parent_died) return false;
  return life.went >= *life.parent_died + policy.limits.orphan;
}

Finding find(const Evidence& evidence, const Policy& policy, const Exiting& exiting,
             const Fitness& fitness, Verdict before, Watch& watch, const Clocks& clocks,
             Horizon& horizon) {
  const Life& life = evidence.life;
  Finding finding;
  finding.unfit = fitness.look(horizon);
  finding.silence = measure_silence(evidence, policy, exiting, clocks, horizon);
  watch_fitness(finding, before, watch, clocks);
  watch_excuses(finding, exiting, watch, clocks);

  const bool paused = clocks.paused();
  const bool record_stands = says_finished(life) && (!life.turn_after_record || life.gone());
  if (record_stands && (!paused || life.gone())) {
    finding.verdict = Verdict::finished;
  } else if (!evidence.seen) {
    finding.verdict = Verdict::unknown;
  } else if (life.gone()) {
    finding.verdict = judge_gone(evidence, policy, finding);
  } else if (paused) {
    finding.verdict = Verdict::waiting;
  } else if (finding.unfit != Unfit::fit) {
    finding.verdict = Verdict::unknown;
  } else if (life.parent == ParentState::dead && life.parent_died &&
             horizon.due(*life.parent_died + policy.limits.orphan)) {
    finding.verdict = Verdict::orphaned;
  } else {
    finding.verdict = judge_silence(finding.silence, life, policy, watch, horizon);
    finding.disagreement = look_for_disagreement(life, horizon);
    if (finding.disagreement != Disagreement::none && finding.verdict != Verdict::stalled) {
      finding.verdict = Verdict::suspect;
    }
  }
  return finding;
}

}  // namespace tend
