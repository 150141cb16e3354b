// Chooses the reasons a person needs to believe a verdict; see explain.h.
#include "judge/explain.h"

#include <algorithm>

namespace tend {

namespace {

void add(Decision& decision, const Reason& reason) {
  if (decision.reason_count < kMostReasons) decision.reasons[decision.reason_count++] = reason;
}

Reason of(Because because) {
  Reason reason;
  reason.because = because;
  return reason;
}

/// What the phase itself says: "tool Bash open 10 s of 660 s".
Reason phase_reason(const Scene& scene) {
  const Silence& silence = scene.finding.silence;
  Reason reason = of(silence.because);
  reason.phase = silence.phase;
  reason.name = silence.name;
  reason.count = silence.count;
  reason.age = std::max(Duration{}, scene.clocks.silence() - silence.since);
  reason.limit = silence.limited ? silence.deadline - silence.since : kNoLimit;
  const Life& life = scene.evidence.life;
  if (silence.phase == Phase::person && life.person_since) {
    reason.age = scene.clocks.active() - *life.person_since;
  }
  if (silence.phase == Phase::retry && life.hold) {
    reason.age = scene.clocks.active() - life.hold->opened;
    reason.limit = life.hold->until ? std::max(Duration{}, *life.hold->until - scene.clocks.now())
                                    : Duration{};
  }
  return reason;
}

Reason silence_past(const Scene& scene) {
  const Silence& silence = scene.finding.silence;
  Reason reason = of(Because::silent_past);
  reason.phase = silence.phase;
  reason.age = scene.clocks.silence() - silence.base;
  reason.limit = silence.deadline - silence.base;
  return reason;
}

Reason process_reason(const Life& life) {
  Reason reason = of(life.gone() ? Because::process_exited : Because::process_is);
  reason.process = life.probe.value_or(ProcessState::unknown);
  reason.exit = life.exit;
  return reason;
}

Reason disagreement_reason(const Scene& scene) {
  const Life& life = scene.evidence.life;
  const SilenceTime now = scene.clocks.silence();
  Reason reason;
  switch (scene.finding.disagreement) {
    case Disagreement::stopped:
      return of(Because::stopped_without_pause);
    case Disagreement::stuck:
      reason = of(Because::stuck_by_own_word);
      reason.age = now - life.stated.value_or(now);
      return reason;
    case Disagreement::turn_after_record:
      return of(Because::record_and_turn);
    case Disagreement::idle_in_tool:
      reason = of(Because::idle_in_tool);
      for (const Tool& tool : life.tools) {
        if (!tool.foreground_of_lead()) continue;
        reason.name = tool.tool;
        reason.age = now - tool.opened;
        break;
      }
      return reason;
    case Disagreement::none:
      break;
  }
  return silence_past(scene);
}

void explain_doubt(const Scene& scene, Verdict verdict, Decision& decision) {
  const Life& life = scene.evidence.life;
  const Silence& silence = scene.finding.silence;
  const bool silent = verdict == Verdict::stalled || scene.clocks.silence() >= silence.deadline;
  if (scene.finding.disagreement != Disagreement::none) add(decision, disagreement_reason(scene));
  if (silent && silence.limited) add(decision, silence_past(scene));
  const bool speaks_of_silence =
      silence.because == Because::silent_within || silence.because == Because::no_sign_yet;
  if (!speaks_of_silence) add(decision, phase_reason(scene));
  if (life.probe) add(decision, process_reason(life));
  if (life.last_weak && *life.last_weak > silence.base) {
    Reason weak = of(Because::weak_sign);
    weak.age = scene.clocks.silence() - *life.last_weak;
    add(decision, weak);
  }
}

void explain_finished(const Scene& scene, Decision& decision) {
  const Life& life = scene.evidence.life;
  const bool record = life.record == Status::completed || life.record == Status::withdrawn;
  if (record) {
    Reason reason = of(Because::record_says);
    reason.name = Name(kStatusWords[static_cast<std::size_t>(*life.record)]);
    add(decision, reason);
  }
  if (!life.gone()) return;
  if (!record && scene.evidence.want == Want::run) {
    Reason reason = of(Because::clean_end);
    reason.exit = life.exit;
    add(decision, reason);
    return;
  }
  if (!record) add(decision, of(Because::stop_ordered));
  add(decision, process_reason(life));
}

void explain_waiting(const Scene& scene, Decision& decision) {
  if (scene.clocks.paused()) return add(decision, of(Because::paused));
  add(decision, phase_reason(scene));
  if (scene.finding.held_by_provider) add(decision, process_reason(scene.evidence.life));
}

void explain_unknown(const Scene& scene, Decision& decision) {
  if (scene.finding.unfit == Unfit::fit) return add(decision, of(Because::nothing_seen));
  Reason reason = of(Because::observer_unfit);
  reason.name = Name(word(scene.finding.unfit));
  if (scene.watch.unfit_since) reason.age = scene.clocks.awake() - *scene.watch.unfit_since;
  add(decision, reason);
}

}  // namespace

void explain(const Scene& scene, const Ladder& ladder, Verdict verdict, Decision& decision) {
  const Life& life = scene.evidence.life;
  switch (verdict) {
    case Verdict::starting:
    case Verdict::working:
    case Verdict::idle:
      add(decision, phase_reason(scene));
      break;
    case Verdict::waiting:
      explain_waiting(scene, decision);
      break;
    case Verdict::suspect:
    case Verdict::stalled:
      explain_doubt(scene, verdict, decision);
      break;
    case Verdict::dead: {
      add(decision, process_reason(life));
      if (ended_by_us(life)) add(decision, of(Because::killed_by_us));
      add(decision, phase_reason(scene));
      break;
    }
    case Verdict::orphaned: {
      Reason reason = of(Because::parent_dead);
      reason.age = scene.clocks.active() - life.parent_died.value_or(scene.clocks.active());
      reason.limit = scene.policy.limits.orphan;
      add(decision, reason);
      break;
    }
    case Verdict::finished:
      explain_finished(scene, decision);
      break;
    case Verdict::looping:
      add(decision, ladder.looping_because());
      if (life.gone()) add(decision, process_reason(life));
      break;
    case Verdict::unknown:
      explain_unknown(scene, decision);
      break;
  }
}

}  // namespace tend
